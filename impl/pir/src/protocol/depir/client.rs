//! DEPIR's client: a fresh secret for every query, nothing between queries.

use std::sync::Arc;

use bfv::{Algebraic, AlgebraicCiphertext};
use lattice::wire::{Reader, Writer};
use lattice::{Masks, RlweKey};
use ring::DiscreteGaussian;

use super::Set;
use super::engine::{Engine, answer_bytes, query_bytes};
use super::server::Server;
use super::set::NAME;
use super::wire;
use crate::core::seed::fresh_seed;
use crate::core::{Context, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol};

/// What every query is made with.
pub struct Client {
    engine: Engine,
    error: DiscreteGaussian,
}

/// A record that is asked for, and the secret of its query.
pub struct Asked {
    index: u64,
    key: Arc<RlweKey<u32>>,
}

impl Client {
    fn write_query(&self, indices: &[u64], context: &mut Context) -> Result<(Arc<RlweKey<u32>>, Vec<u8>)> {
        let Engine { set, scheme, .. } = &self.engine;
        let rng = &mut context.rng;
        let key = RlweKey::sample(scheme.ring(), &set.ring.secret.distribution(), rng)?;
        let seed = fresh_seed(rng);
        let mut masks = Masks::new(seed);
        let mut out = Writer::with_capacity(query_bytes(set) as usize);
        out.write_seed(&seed);
        for plaintext in self.engine.plaintexts(&self.engine.asked(indices))? {
            let ciphertext = scheme.encrypt(&key, &plaintext, &self.error, &mut masks, rng)?;
            wire::write(&mut out, scheme.ring(), &ciphertext.b);
        }
        Ok((Arc::new(key), out.finish()))
    }

    /// Calls `each` with the records asked for by every query, its key for answers, and the ciphertexts of its answer, a column each.
    fn for_each_answer(
        &self,
        asked: &[Asked],
        answer: &Messages,
        mut each: impl FnMut(&[Asked], RlweKey<u32>, Vec<AlgebraicCiphertext<u32>>) -> Result<()>,
    ) -> Result<()> {
        let Engine { set, shape, short, columns, .. } = &self.engine;
        let (queries, bytes) = (asked.chunks(self.engine.slots()), answer_bytes(set, *shape));
        let message = only("answer", answer)?.clone().check(NAME, "answer", queries.len() as u64 * bytes)?;
        for (asked, bytes) in queries.zip(message.payload().chunks_exact(bytes as usize)) {
            let mut input = Reader::of(bytes);
            let mut part = || wire::read(&mut input, short.ring(), "answer");
            let ciphertext =
                |_| Ok(AlgebraicCiphertext { parts: (0..=set.degree).map(|_| part()).collect::<Result<_>>()? });
            let ciphertexts = (0..*columns).map(ciphertext).collect::<Result<_>>()?;
            each(asked, self.engine.short_key(&asked[0].key)?, ciphertexts)?;
        }
        Ok(())
    }

    /// The errors of ciphertexts whose plaintexts are known, modulo t.
    fn errors(
        &self,
        (scheme, key): (&Algebraic<u32>, &RlweKey<u32>),
        ciphertexts: &[AlgebraicCiphertext<u32>],
        known: impl Iterator<Item = Vec<u32>>,
    ) -> Result<Vec<f64>> {
        let mut errors = Vec::new();
        for (ciphertext, message) in ciphertexts.iter().zip(known) {
            let phase = scheme.phase(key, ciphertext)?;
            errors.extend(self.engine.errors(scheme, phase.as_slice(), &message));
        }
        Ok(errors)
    }

    /// The records that the slots of a query ask for.
    fn slots(&self, asked: &[Asked]) -> Vec<u64> {
        self.engine.asked(&asked.iter().map(|asked| asked.index).collect::<Vec<_>>())
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Asked;

    fn new(set: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        Ok(Self { engine: Engine::new(set, shape, context.kernel)?, error: set.ring.error.sampler()? })
    }

    fn queries(&self, indices: u64) -> Result<u64> {
        Ok(self.engine.set.queries(indices))
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Asked>, Messages)> {
        indices.iter().try_for_each(|index| self.engine.shape.check_index(*index))?;
        let (slots, bytes) = (self.engine.slots(), query_bytes(&self.engine.set) as usize);
        let mut builder = FrameBuilder::new(bytes * indices.len().div_ceil(slots));
        let mut asked = Vec::with_capacity(indices.len());
        for (indices, out) in indices.chunks(slots).zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            let (key, query) = self.write_query(indices, context)?;
            out.copy_from_slice(&query);
            asked.extend(indices.iter().map(|index| Asked { index: *index, key: key.clone() }));
        }
        Ok((asked, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Asked], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let mut records = Vec::with_capacity(asked.len());
        self.for_each_answer(asked, answer, |asked, key, ciphertexts| {
            let open = |ciphertext| self.engine.decode(&self.engine.short.decrypt(&key, ciphertext)?);
            let columns = ciphertexts.iter().map(open).collect::<Result<Vec<_>>>()?;
            records.extend(self.engine.records(&columns, asked.len())?);
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
        let engine = &self.engine;
        self.for_each_answer(asked, answer, |asked, key, ciphertexts| {
            let known = engine.answer(&server.database, &self.slots(asked))?;
            let known = known.iter().map(|plaintext| engine.divided(plaintext));
            context.noise.add("answer", 0.5, self.errors((&engine.short, &key), &ciphertexts, known)?);
            Ok(())
        })
    }

    /// Logs the errors of values before they are switched.
    fn diagnose(&self, asked: &[Asked], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let engine = &self.engine;
        let values = server.values_of(std::slice::from_ref(request))?;
        for (asked, ciphertexts) in asked.chunks(engine.slots()).zip(values) {
            let known = engine.answer(&server.database, &self.slots(asked))?;
            let reduced = |plaintext: &Vec<i64>| plaintext.iter().map(|x| engine.plain.from_signed(*x)).collect();
            let key = (&engine.scheme, &*asked[0].key);
            context.noise.add("value", 0.5, self.errors(key, &ciphertexts, known.iter().map(reduced))?);
        }
        Ok(())
    }
}
