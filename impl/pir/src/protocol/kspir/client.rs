//! KSPIR's client: one secret that serves all queries.

use lattice::{Masks, SeededRgsw};
use rand::RngCore;

use super::Set;
use super::engine::Engine;
use super::keys::write_keys;
use super::server::{Server, query_bytes};
use super::set::NAME;
use crate::core::seed::fresh_seed;
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol};
use crate::parts::bfv::BfvSecret;

/// The secret, and what it is used with.
pub struct Client {
    engine: Engine,
    secret: BfvSecret,
    /// Identifies this client's secret in the noise log.
    key_id: u64,
}

impl Client {
    /// The encrypted column of a record, and the encrypted monomial that selects its item.
    fn write_query(&self, index: u64, context: &mut Context) -> Result<Vec<u8>> {
        let (Engine { layout, scheme, ring, selector, .. }, rng) = (&self.engine, &mut context.rng);
        let (place, BfvSecret { key, error, .. }) = (layout.place(index), &self.secret);
        let masks = &mut Masks::new(fresh_seed(rng));
        let slots = scheme.modulus().encode(&layout.query(place.column))?;
        let mut out = scheme.encrypt(key, &slots, error, masks, rng)?.to_bytes(ring);
        let back = ring.monomial_ntt(2 * ring.n() - place.class);
        out.extend(SeededRgsw::new(key, &back, selector, error, masks, rng)?.to_bytes(ring));
        Ok(out)
    }

    /// Calls `each` with every query's number and the ciphertexts of its answer.
    fn for_each_answer(
        &self,
        queries: usize,
        answer: &Messages,
        mut each: impl FnMut(usize, Vec<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.engine.set.answer_bytes() as usize;
        let all = self.engine.layout.parts * bytes;
        let message = only("answer", answer)?.clone().check(NAME, "answer", (all * queries) as u64)?;
        message
            .payload()
            .chunks_exact(all)
            .enumerate()
            .try_for_each(|(number, answer)| each(number, answer.chunks_exact(bytes).collect()))
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = u64;

    fn new(set: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, shape, context.kernel)?;
        let secret = BfvSecret::sample(&engine.baby, set.rlwe.secret, set.rlwe.error, &mut context.rng)?;
        Ok(Self { engine, secret, key_id: context.rng.next_u64() })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secret, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<u64>, Messages)> {
        indices.iter().try_for_each(|&index| self.engine.layout.shape.check_index(index))?;
        let bytes: usize = query_bytes(&self.engine.set).iter().sum();
        let mut builder = FrameBuilder::new(bytes * indices.len());
        for (&index, out) in indices.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&self.write_query(index, context)?);
        }
        Ok((indices.to_vec(), vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[u64], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let mut records = Vec::with_capacity(asked.len());
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
            let open = |bytes: &[u8]| self.engine.open(&self.secret.key, bytes);
            let parts = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?;
            records.push(self.engine.layout.record(asked[number], &parts));
            Ok(())
        })?;
        Ok(records)
    }

    /// Logs the errors of all coefficients of an answer, those of the other records of an item too.
    fn log_errors(
        &self,
        asked: &[u64],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let layout = self.engine.layout;
        // A selection has changed records in its bit string.
        let database = server.database.selected(layout.shape, Some);
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
            let place = layout.place(asked[number]);
            for (part, bytes) in ciphertexts.into_iter().enumerate() {
                let entries = layout.entries(&database, (place.column, place.class), part)?;
                let errors = self.engine.errors(&self.secret.key, bytes, &entries)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }
}
