//! PIRANA's client: one secret that serves all queries.

use lattice::Masks;
use lattice::wire::Writer;
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

/// Most selected columns of a query whose errors are logged.
const MOST_COLUMNS: usize = 8;

impl Client {
    /// The encrypted bits of a column's codeword, each of them in the slots of the class.
    fn write_query(&self, index: u64, context: &mut Context) -> Result<Vec<u8>> {
        let (Engine { layout, scheme, ring, set, .. }, rng) = (&self.engine, &mut context.rng);
        let (BfvSecret { key, error, .. }, seed) = (&self.secret, fresh_seed(rng));
        let ((column, class), masks) = (layout.place(index), &mut Masks::new(seed));
        let (ones, unit, zero) = (layout.code.ones(column as u64), self.engine.unit(class)?, vec![0; ring.n()]);
        let mut out = Writer::with_capacity(query_bytes(set, layout.code.bits));
        out.write_seed(&seed);
        for bit in 0..layout.code.bits {
            let z = if ones.contains(&bit) { &unit } else { &zero };
            out.write_poly(ring, &scheme.encrypt(key, z, error, masks, rng)?.b);
        }
        Ok(out.finish())
    }

    /// Calls `each` with every query's number and the ciphertexts of its answer.
    fn for_each_answer(
        &self,
        queries: usize,
        answer: &Messages,
        mut each: impl FnMut(usize, Vec<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.engine.set.answer_bytes();
        let all = self.engine.layout.answers * bytes;
        let message = only("answer", answer)?.clone().check(NAME, "answer", (all * queries) as u64)?;
        message
            .payload()
            .chunks_exact(all)
            .enumerate()
            .try_for_each(|(number, answer)| each(number, answer.chunks_exact(bytes).collect()))
    }

    /// The short plaintexts of the answer to a query.
    fn known(&self, index: u64, server: &Server) -> Result<Vec<Vec<i64>>> {
        let layout = &self.engine.layout;
        let item = layout.item(&server.database, index / layout.records_per_item)?;
        self.engine.answer(&item, layout.place(index).1)
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = u64;

    fn new(set: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, shape, context.kernel)?;
        let secret = BfvSecret::sample(&engine.gadget, set.ring.secret, set.ring.error, &mut context.rng)?;
        Ok(Self { engine, secret, key_id: context.rng.next_u64() })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secret, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<u64>, Messages)> {
        let Engine { layout, set, .. } = &self.engine;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        let bytes = query_bytes(set, layout.code.bits);
        let mut builder = FrameBuilder::new(bytes * indices.len());
        for (&index, out) in indices.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&self.write_query(index, context)?);
        }
        Ok((indices.to_vec(), vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[u64], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (Engine { scheme, opener, .. }, key) = (&self.engine, &self.secret.key);
        let mut records = Vec::with_capacity(asked.len());
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
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
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
            for (bytes, z) in ciphertexts.into_iter().zip(self.known(asked[number], server)?) {
                let errors = opener.noise(scheme, &self.secret.key, bytes, &z)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    /// Logs the errors of selected columns and of sums before they are switched.
    fn diagnose(&self, asked: &[u64], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let (Engine { layout, scheme, ring, .. }, key) = (&self.engine, &self.secret.key);
        let parsed = server.parse(std::slice::from_ref(request))?;
        for (index, query) in asked.iter().zip(parsed) {
            let ((wanted, class), zero) = (layout.place(*index), vec![0; ring.n()]);
            // The wanted column, and those before it.
            let columns = (wanted + 1).saturating_sub(MOST_COLUMNS)..wanted + 1;
            let [selected, sums] = server.stages(query, columns.clone(), context)?;
            let unit = self.engine.unit(class)?;
            let mut log = |stage, errors: Vec<f64>| context.noise.add_under(Some(self.key_id), stage, 0.5, errors);
            for (column, ciphertext) in columns.zip(&selected) {
                let z = if column == wanted { &unit } else { &zero };
                log("selection", scheme.noise(key, ciphertext, z)?);
            }
            for (sum, z) in sums.iter().zip(self.known(*index, server)?) {
                log("sum", scheme.noise(key, sum, &z)?);
            }
        }
        Ok(())
    }
}
