//! The client of Pirouette and Pirouette^H.

use std::sync::Arc;

use lattice::Masks;
use lattice::wire::Writer;
use rand::RngCore;
use ring::{DiscreteGaussian, Ring};

use super::encrypted;
use super::form::Selecting;
use super::keys::{SEED, Secrets};
use super::query::{QuerySeed, SeedUse};
use super::server::Server;
use super::set::Set;
use super::trace::{Trace, index_bits};
use crate::core::seed::fresh_seed;
use crate::core::{
    Context, Database, Error, Frame, Group, Messages, NoiseLog, Record, Request, Result, Shape, only, protocol,
};
use crate::parts::folding::{Encoder, Layout, Place, Responder};

/// Queries of one seed: their numbers travel in the two bytes of a frame's sequence.
const QUERIES_OF_A_SEED: u64 = 1 << 16;

/// A client's secrets.
pub struct Client<F> {
    params: Set<F>,
    pub(super) layout: Layout,
    responder: Responder,
    pub(super) secrets: Secrets,
    /// The secrets of queries.
    error: DiscreteGaussian,
    /// Identifies this client's keys in the noise log.
    key: u64,
    /// The seed of all queries, if they share one, and the number of queries it has served.
    seed: Option<(QuerySeed, u64)>,
}

impl<F: Selecting> Client<F> {
    /// The client's records, encrypted under its ring key.
    fn encrypt(&self, database: &Database, context: &mut Context) -> Result<Frame> {
        let ring = self.secrets.ring.ring();
        let encoder = Encoder::new(self.layout, ring, true);
        let error = self.params.rlwe.error.sampler()?;
        // A separate seed, so that no mask of the keys is used again.
        let mut masks = Masks::new(fresh_seed(&mut context.rng));
        let scaled = (&self.secrets.ring, self.params.scale());
        let bytes = encrypted::encrypt(&encoder, database, scaled, &error, &mut masks, context)?;
        Ok(Frame::of(F::NAME, encrypted::DATABASE, &bytes))
    }

    /// The bodies of a request from its query number `first` on, under that seed; `None` if the seed does not suit them.
    fn bodies(&self, seed: &QuerySeed, first: u64, places: &[Place], context: &mut Context) -> Result<Option<Vec<u8>>> {
        let encryption = self.params.encryption();
        let bits = index_bits(&self.layout);
        let dimension = F::dimension(self.params.rlwe.degree, self.params.lwe.dimension);
        let mut bodies = Writer::default();
        for (number, place) in (first..).zip(places) {
            let messages = self.params.messages(place.item, bits)?;
            let masks = encryption.masks(seed, number, messages.len(), dimension);
            let noise = (&self.error, &mut context.rng);
            if !encryption.encrypt(F::key(&self.secrets), &masks, &messages, noise, &mut bodies) {
                return Ok(None);
            }
        }
        Ok(Some(bodies.finish()))
    }

    /// The answer's message.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        let message = only("answer", answer)?;
        let bytes = self.responder.response_bytes() * self.layout.slots * queries;
        message.clone().check(F::NAME, "answer", bytes as u64)
    }

    fn slots<'a>(&self, message: &'a Frame) -> std::slice::ChunksExact<'a, u8> {
        message.payload().chunks_exact(self.responder.response_bytes())
    }

    /// The trace that opens the answer to a query for a place whose plaintext polynomials are `cell`.
    fn trace<'a>(&'a self, place: Place, cell: Vec<Vec<i64>>, noise: &'a mut NoiseLog) -> Trace<'a, F> {
        let Self { params, layout, secrets, key, .. } = self;
        Trace { params, layout, secrets, place, cell, key: *key, noise }
    }
}

impl<F: Selecting> protocol::Client for Client<F> {
    type Server = Server<F>;
    type Query = Place;

    /// A client with fresh secrets.
    fn new(params: &Set<F>, shape: Shape, context: &mut Context) -> Result<Self> {
        let ring: Arc<Ring<u32>> = params.ring(context.kernel)?;
        let responder = Responder::new(params.response.params(), &ring)?;
        let layout = params.layout(shape)?;
        let secrets = Secrets::sample(params, &ring, &responder, &mut context.rng)?;
        let seed = match params.encryption().seed {
            SeedUse::PerQuery => None,
            SeedUse::PerClient => Some((fresh(context), 0)),
        };
        let key = context.rng.next_u64();
        Ok(Self {
            params: params.clone(),
            layout,
            responder,
            secrets,
            error: params.encryption().error.sampler()?,
            key,
            seed,
        })
    }

    /// Fresh keys (phase `keys`), the seed of all queries if they share one, and the client's encrypted records if it owns them (phase
    /// `database_encryption`).
    fn upload(&mut self, owned: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let clock = Arc::clone(&context.clock);
        let mut messages =
            clock.time("keys", Group::Offline, || self.secrets.messages(&self.params, &self.responder, context))?;
        if let Some((seed, _)) = self.seed {
            messages.push((SEED, Frame::of(F::NAME, SEED, &seed)));
        }
        if let Some(database) = owned {
            let encrypted = clock.time("database_encryption", Group::Offline, || self.encrypt(database, context))?;
            messages.push((encrypted::DATABASE, encrypted));
        }
        Ok(messages)
    }

    /// A seed and the bodies of each index's encryptions.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Place>, Messages)> {
        indices.iter().try_for_each(|&index| self.layout.shape.check_index(index))?;
        let encryption = self.params.encryption();
        encryption.check_queries(indices.len() as u64)?;
        let (mut seed, first) = match &mut self.seed {
            None => (fresh(context), 0),
            Some((seed, served)) => {
                let first = *served;
                *served += indices.len() as u64;
                if *served > QUERIES_OF_A_SEED {
                    return Err(Error::Workload(format!(
                        "a seed serves {QUERIES_OF_A_SEED} queries, so that no mask is used twice: set up a new client."
                    )));
                }
                (*seed, first)
            }
        };
        let places: Vec<Place> = indices.iter().map(|&index| self.layout.place(index)).collect();
        let bodies = loop {
            if let Some(bodies) = self.bodies(&seed, first, &places, context)? {
                break bodies;
            }
            seed = fresh(context);
        };
        let payload = [&seed[..encryption.seed_bytes()], &bodies].concat();
        let query = Frame::of(F::NAME, "query", &payload).in_sequence(first as u16);
        Ok((places, vec![("query", query)]))
    }

    fn extract(&mut self, places: &[Place], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let message = self.message(answer, places.len())?;
        let mut slots = self.slots(&message);
        let mut records = Vec::with_capacity(places.len());
        for place in places {
            let open = |bytes| self.responder.open(&self.secrets.response, bytes, self.params.database.plain_modulus);
            let digits: Result<Vec<_>> = slots.by_ref().take(self.layout.slots).map(open).collect();
            records.push(Encoder::record(&self.layout, place, &digits?));
        }
        Ok(records)
    }

    /// Logs the errors of every coefficient of a response, in units of the body's modulus.
    fn log_errors(
        &self,
        places: &[Place],
        server: &Server<F>,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let message = self.message(answer, places.len())?;
        let unit = self.params.response.mask_modulus as f64 / self.params.response.body_modulus as f64;
        let plain_modulus = self.params.database.plain_modulus;
        let mut slots = self.slots(&message);
        for place in places {
            for (messages, bytes) in server.matrix.slots(place)?.into_iter().zip(slots.by_ref()) {
                let (threshold, errors) =
                    self.responder.errors(&self.secrets.response, bytes, plain_modulus, messages)?;
                let errors = errors.into_iter().map(|error| f64::from(error) / unit);
                context.noise.add_under(Some(self.key), "response", threshold / unit, errors);
            }
        }
        Ok(())
    }

    fn diagnose(&self, places: &[Place], server: &Server<F>, request: &Request, context: &mut Context) -> Result<()> {
        let place = *places.first().ok_or_else(|| Error::message("answer", "nothing was extracted yet."))?;
        let cell = server.matrix.cell(&place)?;
        // The trace needs a log of its own while the server borrows the context.
        let mut noise = std::mem::take(&mut context.noise);
        let mut trace = self.trace(place, cell, &mut noise);
        server.answer_traced(std::slice::from_ref(request), Some(&mut trace), context)?;
        context.noise = noise;
        Ok(())
    }
}

fn fresh(context: &mut Context) -> QuerySeed {
    let mut seed = [0; 32];
    context.rng.fill_bytes(&mut seed);
    seed
}
