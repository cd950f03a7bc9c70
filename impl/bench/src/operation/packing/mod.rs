//! `packing`: LWE ciphertexts packed into RLWE ciphertexts, offline and online, with bytes and noise.

mod settings;

use std::hint::black_box;
use std::time::Instant;

use gadget::Coins;
use lattice::noise::{Moments, errors};
use lattice::{Packing, PackingKeys, PackingMasks, PackingTable, Rlwe, RlweKey, Workspace};
use rand::Rng;
use ring::{Coefficient, Kernel, Ntt, Poly, Ring, Seed};
use serde_json::json;

use crate::in_ring::seconds_per_polynomial;
use crate::lab::Tally;
use crate::primitive::{About, Context, Described, Failed, Measured, Primitive, Session, Started};
use crate::setting::SecretName;
use crate::settings::{Refusal, complete};
use settings::Packings;
pub use settings::read;

/// A client's outputs.
type Outputs = Vec<Rlwe<u32, Coefficient>>;

/// The stage whose noise is measured.
const STAGE: &str = "packed";

pub const ABOUT: About =
    ("packing", "LWE ciphertexts packed into RLWE ciphertexts: seconds offline and online, bytes, noise");

impl Primitive for Packings {
    fn describe(&self) -> Result<Described, Refusal> {
        let own = self;
        let packing = own.packing(Kernel::Scalar)?;
        let (ring, gadget) = (packing.ring(), packing.gadget());
        let mut described = Described { settings: complete(own)?, ..Described::default() };
        if own.secret == SecretName::Gaussian {
            described.settings.insert("secret_stddev".into(), json!(own.stddev));
        }
        described.digits(gadget.length(), gadget.error_bound(), &gadget.moments());
        described.settings.insert("modulus".into(), json!(gadget.modulus().to_string()));
        let weights: Vec<String> = gadget.weights().iter().map(u128::to_string).collect();
        described.settings.insert("weights".into(), json!(weights));
        let outputs = own.outputs();
        let input_bits = own.ciphertexts * (lattice::wire::poly_bits(ring) + lattice::wire::poly_bits(ring) / own.n);
        let table_bytes = if own.method.has_table() { outputs * packing.table_bytes() } else { 0 };
        described.counts([
            ("outputs", outputs),
            ("input_bytes", input_bits.div_ceil(8)),
            ("key_bytes", packing.key_bytes()),
            ("output_bytes", outputs * Rlwe::<u32, Coefficient>::wire_bytes(ring)),
            ("table_bytes", table_bytes),
        ]);
        // Ring masks, and the buffers while an output is made, which are as large as its table.
        let polynomial = own.n * own.primes.len() * size_of::<u32>();
        described.peak_bytes =
            (table_bytes + packing.table_bytes() + (own.ciphertexts + 3 * own.n) * polynomial) as u64;
        // A client's inputs and the key switches, which most repetitions do not prepare again: some ten polynomials an input.
        described.predicted_seconds = (10 * own.ciphertexts) as f64 * seconds_per_polynomial(ring);
        Ok(described)
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let packing = self.packing(context.kernel)?;
        let ring = packing.gadget().ring().clone();
        let mut rng = context.seed("packing inputs")?.prg().rng();
        let inputs = |_| (0..self.gamma).map(|_| ring.uniform(&mut rng)).collect();
        Ok(Box::new(Packed {
            inputs: (0..self.outputs()).map(inputs).collect(),
            masks: packing.masks(context.seed("packing masks")?),
            seed: context.seed("packing keys")?,
            workspace: Workspace::new(Coins::from_seed(context.seed("packing coins")?)),
            tables: Vec::new(),
            noise: Vec::new(),
            largest: Vec::new(),
            packing,
            own: *self,
        }))
    }
}

struct Packed {
    own: Packings,
    packing: Packing,
    masks: PackingMasks,
    /// The ring masks of every output.
    inputs: Vec<Vec<Poly<u32, Ntt>>>,
    tables: Vec<PackingTable>,
    seed: Seed,
    workspace: Workspace<u32>,
    /// The errors under each key.
    noise: Vec<Tally>,
    /// The largest error of each output.
    largest: Vec<f64>,
}

/// A client with its messages and the bodies that encrypt them, output by output.
struct Client {
    key: RlweKey<u32>,
    keys: PackingKeys,
    messages: Vec<Vec<u64>>,
    bodies: Vec<Poly<u32, Coefficient>>,
}

impl Packed {
    fn ring(&self) -> &Ring<u32> {
        self.packing.ring()
    }

    fn modulus(&self) -> u64 {
        self.packing.gadget().modulus() as u64
    }

    /// A message as a number modulo q.
    fn scaled(&self, message: u64) -> u64 {
        let (q, p) = (u128::from(self.modulus()), u128::from(self.own.plain_modulus));
        ((u128::from(message) * q + p / 2) / p % q) as u64
    }

    fn client(&mut self) -> Result<Client, Failed> {
        let seed = self.seed.derive("next");
        let mut rng = std::mem::replace(&mut self.seed, seed).derive("client").prg().rng();
        let key = RlweKey::sample(self.packing.gadget().ring(), &self.own.secret()?, &mut rng)?;
        let keys = self.packing.keys(&key, &self.masks, &self.own.error()?, &mut rng)?;
        let ring = self.ring();
        let (mut messages, mut bodies) = (Vec::new(), Vec::new());
        for ring_masks in &self.inputs {
            let own: Vec<u64> = ring_masks.iter().map(|_| rng.random_range(0..self.own.plain_modulus)).collect();
            let mut body = vec![0; ring.n()];
            own.iter().zip(&mut body).for_each(|(message, body)| *body = self.scaled(*message));
            let mut body: Poly<u32, Coefficient> = ring.from_u64(&body);
            // Noiseless inputs: <a_j, s> is the constant coefficient of the product with the ring mask.
            for (j, ring_mask) in ring_masks.iter().enumerate() {
                let mut product = ring_mask.clone();
                ring.mul_assign(&mut product, key.ntt());
                let product = ring.inverse(product);
                for (i, (modulus, _)) in ring.limbs().iter().enumerate() {
                    let sum = modulus.add(body.limb(i)[j], product.limb(i)[0]);
                    body.limb_mut(i)[j] = sum;
                }
            }
            messages.push(own);
            bodies.push(body);
        }
        Ok(Client { key, keys, messages, bodies })
    }

    /// Decrypts a client's outputs: compares the messages and collects the errors.
    fn check(&mut self, client: &Client, outputs: &[Rlwe<u32, Coefficient>], out: &mut Measured) -> Result<(), Failed> {
        let ring = self.packing.ring();
        let (q, p) = (u128::from(self.modulus()), u128::from(self.own.plain_modulus));
        let (mut tally, mut largest) = (Tally::default(), Vec::new());
        for (packed, messages) in outputs.iter().zip(&client.messages) {
            let phase = client.key.phase_coefficient(packed);
            let mut found = vec![0; ring.n()];
            ring.compose_u64(&phase, &mut found);
            let mut known = vec![0; ring.n()];
            for (j, message) in messages.iter().enumerate() {
                known[self.packing.position(j)] = self.scaled(*message);
            }
            let errors = errors(ring, &phase, &ring.from_u64(&known))?;
            let at: Vec<f64> = (0..messages.len()).map(|j| errors[self.packing.position(j)]).collect();
            tally.add(STAGE, &at);
            largest.push(Moments::of(&at).max);
            let right = messages.iter().enumerate().filter(|(j, message)| {
                let value = u128::from(found[self.packing.position(*j)]);
                (value * p + q / 2) / q % p == u128::from(**message)
            });
            out.compared(messages.len() as u64, right.count() as u64);
        }
        self.noise.push(tally);
        self.largest.append(&mut largest);
        Ok(())
    }

    /// Makes the tables, which do not depend on the client, the requested number of times.
    fn prepare(&mut self) -> Result<f64, Failed> {
        // Frees the old tables first.
        self.tables.clear();
        let Self { packing, masks, inputs, workspace, tables, .. } = self;
        let start = Instant::now();
        for ring_masks in &*inputs {
            tables.push(packing.preprocess(masks, ring_masks, workspace)?);
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Packs for all clients; by client, the outputs.
    fn pack(&mut self, clients: &[Client]) -> Result<(f64, Vec<Outputs>), Failed> {
        let Self { packing, masks, inputs, workspace, tables, .. } = self;
        let mut packed: Vec<Outputs> = clients.iter().map(|_| Vec::new()).collect();
        let start = Instant::now();
        for (i, table) in tables.iter().enumerate() {
            let batch: Vec<_> = clients.iter().map(|client| (&client.keys, &client.bodies[i])).collect();
            let outputs = table.pack_batch(black_box(&batch))?;
            packed.iter_mut().zip(outputs).for_each(|(packed, output)| packed.push(output));
        }
        if tables.is_empty() {
            for (client, packed) in clients.iter().zip(&mut packed) {
                for (ring_masks, bodies) in inputs.iter().zip(&client.bodies) {
                    packed.push(packing.pack(masks, &client.keys, black_box(ring_masks), bodies, workspace)?);
                }
            }
        }
        Ok((start.elapsed().as_secs_f64(), packed))
    }

    /// One set of clients, packed, timed and checked.
    fn measure(&mut self, out: &mut Measured) -> Result<(), Failed> {
        let clients = (0..self.own.clients).map(|_| self.client()).collect::<Result<Vec<_>, _>>()?;
        let (seconds, packed) = self.pack(&clients)?;
        out.time("online", 1, seconds);
        for (client, packed) in clients.iter().zip(&packed) {
            self.check(client, packed, out)?;
        }
        Ok(())
    }
}

impl Session for Packed {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        if self.own.method.has_table() {
            let seconds = self.prepare()?;
            out.time("offline", 1, seconds);
        }
        self.measure(out)
    }

    fn finish(mut self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        while (self.noise.len() as u64) < self.own.keys {
            self.measure(out)?;
        }
        Tally::write(&self.noise, out);
        self.largest.iter().for_each(|largest| out.value(&format!("{STAGE}.output_max"), *largest));
        Ok(())
    }
}
