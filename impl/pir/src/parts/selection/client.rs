//! The client: one secret that serves all queries.

use lattice::Masks;
use rand::RngCore;

use super::{Exchange, Selector, Server, Wanted};
use crate::core::seed::fresh_seed;
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, protocol};
use crate::parts::bfv::{AnswerKey, BfvSecret, for_each_answer, write_keys, write_query};

/// The secret, and what it is used with.
pub struct Client<S> {
    selector: S,
    secret: BfvSecret,
    answers: AnswerKey,
    /// Identifies this client's secret in the noise log.
    key_id: u64,
}

/// The numbers of the records that a query asks for.
fn numbers(asked: &[Wanted], query: usize) -> Vec<u64> {
    asked.iter().filter(|asked| asked.query == query).map(|asked| asked.number).collect()
}

/// The number of queries, which ask for these records in order.
fn queries(asked: &[Wanted]) -> usize {
    asked.last().map_or(0, |last| last.query + 1)
}

impl<S: Selector> Client<S> {
    /// Calls `each` with the numbers that every query asked for and the ciphertexts of the answer to it.
    fn for_each_answer(
        &self,
        asked: &[Wanted],
        answer: &Messages,
        mut each: impl FnMut(Vec<u64>, Vec<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let exchange = self.selector.exchange();
        let lengths = (queries(asked), exchange.ciphertexts[1], exchange.answer_bytes());
        for_each_answer(S::NAME, answer, lengths, |query, ciphertexts| each(numbers(asked, query), ciphertexts))
    }
}

impl<S: Selector> protocol::Client for Client<S> {
    type Server = Server<S>;
    type Query = Wanted;

    fn new(set: &S::Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let selector = S::new(set, shape, context.kernel)?;
        let exchange = selector.exchange();
        let params = exchange.params();
        let secret = BfvSecret::sample(&exchange.gadget, params.secret, params.error, &mut context.rng)?;
        let answers = exchange.opener.key(&secret.key)?;
        Ok(Self { selector, secret, answers, key_id: context.rng.next_u64() })
    }

    fn receive(&mut self, messages: Messages, _: &mut Context) -> Result<()> {
        self.selector.receive(&messages)
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let Exchange { gadget, fingerprint, exponents, .. } = self.selector.exchange();
        let masks = &mut Masks::new(fresh_seed(&mut context.rng));
        let keys = write_keys(gadget, &self.secret, *fingerprint, exponents, (masks, &mut context.rng))?;
        Ok(vec![("keys", Frame::of(S::NAME, "keys", &keys))])
    }

    fn queries(&self, indices: u64) -> Result<u64> {
        Ok(self.selector.queries(indices))
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Wanted>, Messages)> {
        let (asked, exchange) = (self.selector.assign(indices)?, self.selector.exchange());
        let bytes = exchange.query_bytes();
        let mut builder = FrameBuilder::new(bytes * queries(&asked));
        for (query, out) in builder.payload_mut().chunks_exact_mut(bytes).enumerate() {
            let numbers = numbers(&asked, query);
            let phases = self.selector.query(&numbers).map(|z| Ok(exchange.scheme.scale(&z?)?));
            out.copy_from_slice(&write_query(&self.secret, phases, &mut context.rng)?);
        }
        Ok((asked, vec![("query", builder.finish(S::NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Wanted], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (scheme, mut records) = (&self.selector.exchange().scheme, Vec::with_capacity(asked.len()));
        self.for_each_answer(asked, answer, |numbers, ciphertexts| {
            let open = |bytes| self.answers.decrypt(scheme, bytes);
            let plaintexts = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?;
            records.extend(self.selector.records(&numbers, plaintexts)?);
            Ok(())
        })?;
        Ok(records)
    }

    /// Logs the errors of all coefficients of an answer.
    fn log_errors(
        &self,
        asked: &[Wanted],
        server: &Server<S>,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let scheme = &self.selector.exchange().scheme;
        self.for_each_answer(asked, answer, |numbers, ciphertexts| {
            for (bytes, z) in ciphertexts.into_iter().zip(self.selector.known(&server.database, &numbers)?) {
                let errors = self.answers.noise(scheme, bytes, &z)?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    /// Logs the errors of some ciphertexts of the answer and of its sums before they are switched.
    fn diagnose(&self, asked: &[Wanted], server: &Server<S>, request: &Request, context: &mut Context) -> Result<()> {
        let (scheme, key) = (&self.selector.exchange().scheme, &self.secret.key);
        for (query, parsed) in server.parse(std::slice::from_ref(request))?.into_iter().enumerate() {
            for stage in server.stages(parsed, &numbers(asked, query), context)? {
                let errors = scheme.noise(key, &stage.ciphertext, &stage.plaintext)?;
                context.noise.add_under(Some(self.key_id), stage.name, 0.5, errors);
            }
        }
        Ok(())
    }
}
