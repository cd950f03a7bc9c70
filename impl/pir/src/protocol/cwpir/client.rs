//! CwPIR's client: one secret that serves all queries.

use rand::RngCore;

use super::Set;
use super::engine::Engine;
use super::server::Server;
use super::set::NAME;
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, protocol};
use crate::parts::bfv::{BfvSecret, for_each_answer, query_bytes, write_keys, write_query};

/// The secret, and what it is used with.
pub struct Client {
    engine: Engine,
    shape: Shape,
    secret: BfvSecret,
    /// Identifies this client's secret in the noise log.
    key_id: u64,
}

/// Most selected items of a query whose errors are logged.
const MOST_ITEMS: usize = 8;

impl Client {
    /// The encrypted word of a record's item, a bit a coefficient.
    fn write_query(&self, index: u64, context: &mut Context) -> Result<Vec<u8>> {
        let Engine { layout, scheme, ring, .. } = &self.engine;
        let ones = layout.ones(layout.item_of(index));
        let plaintext = |number| {
            let (mut z, bits) = (vec![0; ring.n()], layout.bits_of(number));
            ones.iter().filter(|bit| bits.contains(bit)).for_each(|bit| z[bit - bits.start] = 1);
            Ok(z)
        };
        write_query(scheme, &self.secret, (0..layout.ciphertexts()).map(plaintext), &mut context.rng)
    }

    /// Queries, ciphertexts of an answer, bytes of a ciphertext.
    fn answers(&self, asked: &[u64]) -> (usize, usize, usize) {
        (asked.len(), self.engine.layout.polynomials, self.engine.set.answer_bytes())
    }

    /// The plaintexts of the answer to a query for a record.
    fn known(&self, server: &Server, index: u64) -> Result<Vec<Vec<i64>>> {
        let layout = &self.engine.layout;
        let item = layout.item_of(index);
        let bits = layout.items.item(&server.database, item as u64)?;
        layout.plaintexts(item, &bits).iter().map(|z| self.engine.multiple(z)).collect()
    }

    /// The plaintext of that constant.
    fn constant(&self, value: i64) -> Result<Vec<i64>> {
        let mut z = vec![0; self.engine.ring.n()];
        z[0] = value;
        Ok(self.engine.scheme.modulus().shorten(&z)?)
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = u64;

    fn new(set: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, shape, context.kernel)?;
        let secret = BfvSecret::sample(&engine.gadget, set.ring.secret, set.ring.error, &mut context.rng)?;
        Ok(Self { engine, shape, secret, key_id: context.rng.next_u64() })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let Engine { set, gadget, exponents, .. } = &self.engine;
        let keys = write_keys(gadget, &self.secret, set.fingerprint()?, exponents, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<u64>, Messages)> {
        indices.iter().try_for_each(|&index| self.shape.check_index(index))?;
        let bytes = query_bytes(&self.engine.set.ring, self.engine.layout.ciphertexts());
        let mut builder = FrameBuilder::new(bytes * indices.len());
        for (index, out) in indices.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&self.write_query(*index, context)?);
        }
        Ok((indices.to_vec(), vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[u64], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (engine, key) = (&self.engine, &self.secret.key);
        let mut records = Vec::with_capacity(asked.len());
        for_each_answer(NAME, answer, self.answers(asked), |number, ciphertexts| {
            let open = |bytes: &[u8]| engine.opener.decrypt(&engine.scheme, key, bytes);
            let plaintexts = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?;
            let item = engine.layout.bits(plaintexts.into_iter().flat_map(|z| engine.coefficients(z)));
            records.push(engine.layout.items.record(&item, asked[number]));
            Ok(())
        })?;
        Ok(records)
    }

    /// Logs the errors of all coefficients of an answer.
    fn log_errors(
        &self,
        asked: &[u64],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let Engine { scheme, opener, .. } = &self.engine;
        for_each_answer(NAME, answer, self.answers(asked), |number, ciphertexts| {
            for (bytes, z) in ciphertexts.into_iter().zip(self.known(server, asked[number])?) {
                let errors = opener.noise(scheme, &self.secret.key, bytes, &z)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    /// Logs the errors of the bits of words, of some selected items, and of sums before they are switched.
    fn diagnose(&self, asked: &[u64], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let (Engine { layout, scheme, factor, .. }, key) = (&self.engine, &self.secret.key);
        for (index, query) in asked.iter().zip(server.parse(std::slice::from_ref(request))?) {
            let (item, items) = (layout.item_of(*index), 0..layout.count().min(MOST_ITEMS));
            let ones = layout.ones(item);
            let stages = server.stages(query, items, context)?;
            let mut log = |stage, errors: Vec<f64>| context.noise.add_under(Some(self.key_id), stage, 0.5, errors);
            for (bit, ciphertext) in stages.bits.iter().enumerate() {
                let z = self.constant(i64::from(ones.contains(&bit)))?;
                log("expansion", scheme.noise(key, ciphertext, &z)?);
            }
            for (number, ciphertext) in stages.selected.iter().enumerate() {
                let z = self.constant(if number == item { *factor } else { 0 })?;
                log("selection", scheme.noise(key, ciphertext, &z)?);
            }
            for (sum, z) in stages.sums.iter().zip(self.known(server, *index)?) {
                log("sum", scheme.noise(key, sum, &z)?);
            }
        }
        Ok(())
    }
}
