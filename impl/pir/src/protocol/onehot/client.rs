//! The client of one-hot PIR: one secret that serves all queries.

use rand::RngCore;

use super::Set;
use super::engine::Engine;
use super::server::Server;
use super::set::NAME;
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, protocol};
use crate::parts::bfv::{BfvSecret, for_each_answer, query_bytes, write_keys, write_query};
use crate::parts::slots::read_entry;

/// The secret, and what it is used with.
pub struct Client {
    engine: Engine,
    shape: Shape,
    secret: BfvSecret,
    /// Identifies this client's secret in the noise log.
    key_id: u64,
}

impl Client {
    /// The encrypted unit vector of a record's class, and that of its column, repeated along the slots, in the block's ciphertext.
    fn write_query(&self, index: u64, context: &mut Context) -> Result<Vec<u8>> {
        let Engine { layout, scheme, .. } = &self.engine;
        let (column, class) = layout.place(index);
        let of_block = |block: usize| {
            let here = block == column / layout.width;
            self.engine.units(|slot| here && slot % layout.width == column % layout.width)
        };
        let plaintexts =
            std::iter::once(self.engine.units(|slot| slot == class)).chain((0..layout.blocks).map(of_block));
        write_query(scheme, &self.secret, plaintexts, &mut context.rng)
    }

    /// Queries, ciphertexts of an answer, bytes of a ciphertext.
    fn answers(&self, asked: &[u64]) -> (usize, usize, usize) {
        (asked.len(), self.engine.layout.answers, self.engine.set.answer_bytes())
    }

    /// The plaintext of the first entry of every item of a record's column.
    fn column(&self, database: &Database, index: u64) -> Result<Vec<i64>> {
        let Engine { layout, scheme, .. } = &self.engine;
        let (mut values, words) = (self.engine.zeros(), self.engine.words());
        let first = layout.place(index).0 * layout.classes;
        for item in first..layout.count().min(first + layout.classes) {
            let bits = layout.items.item(database, item as u64)?;
            let value = &mut values[(item - first) * words..][..words];
            read_entry((&bits, layout.items.bits()), layout.entry_bits, 0, value);
        }
        Ok(scheme.modulus().encode(&values)?)
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
        let (Engine { scheme, opener, .. }, key) = (&self.engine, &self.secret.key);
        let mut records = Vec::with_capacity(asked.len());
        for_each_answer(NAME, answer, self.answers(asked), |number, ciphertexts| {
            let open = |bytes: &[u8]| Ok(scheme.modulus().decode(&opener.decrypt(scheme, key, bytes)?)?);
            let slots = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?;
            records.push(self.engine.record(asked[number], &slots));
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
            for (bytes, z) in ciphertexts.into_iter().zip(self.engine.answer(&server.database, asked[number])?) {
                let errors = opener.noise(scheme, &self.secret.key, bytes, &z)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    /// Logs the errors of what diagonals select, and of sums before they are switched.
    fn diagnose(&self, asked: &[u64], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let (scheme, key) = (&self.engine.scheme, &self.secret.key);
        for (index, query) in asked.iter().zip(server.parse(std::slice::from_ref(request))?) {
            let [columns, sums] = server.stages(query, context)?;
            let mut log = |stage, errors: Vec<f64>| context.noise.add_under(Some(self.key_id), stage, 0.5, errors);
            for column in &columns {
                log("column", scheme.noise(key, column, &self.column(&server.database, *index)?)?);
            }
            for (sum, z) in sums.iter().zip(self.engine.answer(&server.database, *index)?) {
                log("sum", scheme.noise(key, sum, &z)?);
            }
        }
        Ok(())
    }
}
