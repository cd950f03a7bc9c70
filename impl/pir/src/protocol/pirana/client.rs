//! PIRANA's client: one secret that serves all queries.

use rand::RngCore;

use super::Set;
use super::engine::{Asked, Engine};
use super::server::Server;
use super::set::NAME;
use crate::core::protocol::none_expected;
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, protocol};
use crate::parts::bfv::{BfvSecret, for_each_answer, query_bytes, write_keys, write_query};
use crate::parts::buckets::Places;

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
    /// The encrypted bits of the codewords of columns, each of them in the slots of its record's class.
    fn write_query(&self, numbers: &[u64], context: &mut Context) -> Result<Vec<u8>> {
        let Engine { layout, scheme, .. } = &self.engine;
        let ones: Vec<_> = numbers.iter().map(|number| layout.code.ones(layout.place(*number).0 as u64)).collect();
        let plaintext = |bit| {
            let set = numbers.iter().zip(&ones).filter(|(_, ones)| ones.contains(&bit));
            self.engine.units(set.map(|(number, _)| *number))
        };
        write_query(scheme, &self.secret, (0..layout.code.bits).map(plaintext), &mut context.rng)
    }

    /// The numbers of the records that a query asks for.
    fn numbers(asked: &[Asked], query: usize) -> Vec<u64> {
        asked.iter().filter(|asked| asked.query == query).map(|asked| asked.number).collect()
    }

    /// Queries, ciphertexts of an answer, bytes of a ciphertext.
    fn answers(&self, asked: &[Asked]) -> (usize, usize, usize) {
        (queries(asked), self.engine.layout.answers, self.engine.set.answer_bytes())
    }
}

/// The number of queries, which ask for these records in order.
fn queries(asked: &[Asked]) -> usize {
    asked.last().map_or(0, |last| last.query + 1)
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Asked;

    fn new(set: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, shape, context.kernel)?;
        let secret = BfvSecret::sample(&engine.gadget, set.ring.secret, set.ring.error, &mut context.rng)?;
        Ok(Self { engine, secret, key_id: context.rng.next_u64() })
    }

    fn receive(&mut self, messages: Messages, _: &mut Context) -> Result<()> {
        self.engine.places = match self.engine.buckets {
            None => none_expected(&messages).map(|()| None)?,
            Some(buckets) => Some(Places::received(buckets, NAME, &messages)?),
        };
        Ok(())
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let Engine { set, gadget, exponents, .. } = &self.engine;
        let keys = write_keys(gadget, &self.secret, set.fingerprint()?, exponents, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn queries(&self, indices: u64) -> Result<u64> {
        Ok(self.engine.set.queries(indices))
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Asked>, Messages)> {
        let asked = self.engine.assign(indices)?;
        let bytes = query_bytes(&self.engine.set.ring, self.engine.layout.code.bits);
        let mut builder = FrameBuilder::new(bytes * queries(&asked));
        for (query, out) in builder.payload_mut().chunks_exact_mut(bytes).enumerate() {
            out.copy_from_slice(&self.write_query(&Self::numbers(&asked, query), context)?);
        }
        Ok((asked, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Asked], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (Engine { scheme, opener, .. }, key) = (&self.engine, &self.secret.key);
        let mut records = Vec::with_capacity(asked.len());
        for_each_answer(NAME, answer, self.answers(asked), |query, ciphertexts| {
            let open = |bytes: &[u8]| Ok(scheme.modulus().decode(&opener.decrypt(scheme, key, bytes)?)?);
            let slots = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?;
            records.extend(Self::numbers(asked, query).into_iter().map(|number| self.engine.record(number, &slots)));
            Ok(())
        })?;
        Ok(records)
    }

    /// Logs the errors of all coefficients of an answer.
    fn log_errors(
        &self,
        asked: &[Asked],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let Engine { scheme, opener, .. } = &self.engine;
        let laid_out = self.engine.laid_out(&server.database);
        for_each_answer(NAME, answer, self.answers(asked), |query, ciphertexts| {
            let known = self.engine.answer(&laid_out, &Self::numbers(asked, query))?;
            for (bytes, z) in ciphertexts.into_iter().zip(known) {
                let errors = opener.noise(scheme, &self.secret.key, bytes, &z)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    /// Logs the errors of some selected columns and of sums before they are switched.
    fn diagnose(&self, asked: &[Asked], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let (Engine { layout, scheme, .. }, key) = (&self.engine, &self.secret.key);
        let (parsed, laid_out) = (server.parse(std::slice::from_ref(request))?, self.engine.laid_out(&server.database));
        for (query, ciphertexts) in parsed.into_iter().enumerate() {
            let (numbers, columns) = (Self::numbers(asked, query), 0..layout.columns.min(MOST_COLUMNS));
            let [selected, sums] = server.stages(ciphertexts, columns, context)?;
            let mut log = |stage, errors: Vec<f64>| context.noise.add_under(Some(self.key_id), stage, 0.5, errors);
            for (column, ciphertext) in selected.iter().enumerate() {
                let here = numbers.iter().copied().filter(|number| layout.place(*number).0 == column);
                log("selection", scheme.noise(key, ciphertext, &self.engine.units(here)?)?);
            }
            for (sum, z) in sums.iter().zip(self.engine.answer(&laid_out, &numbers)?) {
                log("sum", scheme.noise(key, sum, &z)?);
            }
        }
        Ok(())
    }
}
