//! HintlessPIR's client: no state between queries but the public seed, fresh secrets for every index.

use bfv::SeededKey;
use lattice::RlweKey;
use lattice::lwe::{encrypt_zero, residual};
use lattice::wire::Writer;
use ring::DiscreteGaussian;
use zeroize::Zeroizing;

use super::Set;
use super::blocks::Remainders;
use super::layout::Layout;
use super::public::Public;
use super::server::{Server, answer_bytes, key_bytes};
use super::set::NAME;
use crate::core::{
    Context, Error, Frame, FrameBuilder, Messages, NoiseLog, Record, Request, Result, Shape, only, protocol, seed,
};
use crate::parts::bfv::{AnswerKey, AnswerOpener};

/// One requested index, with the secrets of its query.
pub struct Query {
    index: u64,
    /// s of LWE.
    secret: Zeroizing<Vec<u32>>,
    /// The key of the ciphertexts.
    key: RlweKey<u32>,
}

/// The public seed's expansion.
pub struct Client {
    set: Set,
    layout: Layout,
    errors: [DiscreteGaussian; 2],
    public: Option<Public>,
    /// Opens the ciphertexts of answers.
    opener: AnswerOpener,
}

impl Client {
    fn public(&self) -> Result<&Public> {
        self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))
    }

    /// The bodies of the encrypted secrets and of the rotation keys.
    fn keys(&self, public: &Public, secret: &[u32], key: &RlweKey<u32>, context: &mut Context) -> Result<Vec<u8>> {
        let ([_, error], rng) = (&self.errors, &mut context.rng);
        let mut out = Writer::with_capacity(key_bytes(&self.set, &self.layout) as usize);
        let mut masks = public.secret_masks();
        for (scheme, t) in public.schemes.iter().zip(&public.moduli) {
            let plaintext = Zeroizing::new(scheme.modulus().encode(&self.layout.secret(secret, t))?);
            out.write_poly(&public.ring, &scheme.encrypt(key, &plaintext, error, &mut masks, rng)?.b);
        }
        for rotation in &public.rotations {
            let (gadget, exponent) = (&rotation.gadget, rotation.exponent);
            let rotation = SeededKey::automorphism(gadget, key, exponent, error, &mut rotation.masks(), rng)?;
            rotation.write_bodies(gadget, &mut out);
        }
        Ok(out.finish())
    }

    /// The message of a response to `queries` queries.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        let bytes = answer_bytes(&self.set, &self.layout) * queries as u64;
        only("answer", answer)?.clone().check(NAME, "answer", bytes)
    }

    /// The part of an answer that is modulo 2^32, and the ciphertexts, those of one modulus of slots after those of the other.
    fn parts<'a>(&self, answer: &'a [u8]) -> (Vec<u32>, Vec<&'a [u8]>) {
        let (words, ciphertexts) = answer.split_at(4 * self.layout.linear.rows);
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let each = self.set.answer_bytes().iter().sum::<u64>() as usize;
        (words.chunks_exact(4).map(word).collect(), ciphertexts.chunks_exact(each).collect())
    }

    /// <H[r], s> modulo slot modulus `number` for the rows of a block.
    fn products(&self, public: &Public, number: usize, key: &AnswerKey, bytes: &[u8]) -> Result<Vec<u64>> {
        let scheme = &public.schemes[number];
        let plaintext = key.decrypt(scheme, bytes)?;
        Ok(self.layout.sums(&scheme.modulus().decode(&plaintext)?, &public.moduli[number]))
    }

    fn open(&self, query: &Query, answer: &[u8]) -> Result<Record> {
        let (public, Layout { linear, block_rows, .. }) = (self.public()?, self.layout);
        let (words, ciphertexts) = self.parts(answer);
        let (remainders, blocks) = (Remainders::new(&public.moduli)?, self.layout.blocks_of(query.index));
        let first_row = blocks.start * block_rows;
        let key = self.opener.key(&query.key)?;
        let mut products = Vec::with_capacity(blocks.len() * block_rows);
        for block in blocks {
            let mut residues = Vec::with_capacity(2 * block_rows);
            for number in 0..public.moduli.len() {
                let ciphertext = ciphertexts[number * self.layout.blocks() + block];
                residues.extend(self.products(public, number, &key, ciphertext)?);
            }
            products.extend(remainders.words(&residues));
        }
        let (first, ..) = linear.place(query.index);
        let rows = first..first + linear.code.entries_per_record() as usize;
        Ok(linear.open(query.index, rows.map(|row| words[row].wrapping_sub(products[row - first_row]))))
    }

    /// Logs the errors of all words and ciphertexts of an answer.
    fn errors(&self, query: &Query, server: &Server, answer: &[u8], log: &mut NoiseLog) -> Result<()> {
        let (public, linear, n) = (self.public()?, self.layout.linear, self.set.lwe.dimension);
        let (words, ciphertexts) = self.parts(answer);
        let (_, column, _) = linear.place(query.index);
        let rows = server.hint.chunks_exact(n).zip(&words).enumerate();
        let error = |(row, (hint, word)): (usize, (&[u32], &u32))| {
            let product =
                hint.iter().zip(&*query.secret).fold(0u32, |sum, (h, s)| sum.wrapping_add(h.wrapping_mul(*s)));
            residual(word.wrapping_sub(product), linear.scale(), server.database.entry(row, column))
        };
        log.add("answer", f64::from(linear.scale()) / 2.0, rows.map(error));
        let key = self.opener.key(&query.key)?;
        for (i, bytes) in ciphertexts.into_iter().enumerate() {
            let (number, block) = (i / self.layout.blocks(), i % self.layout.blocks());
            let (scheme, t) = (&public.schemes[number], &public.moduli[number]);
            let rows = self.layout.rows_of(block);
            let slots = self.layout.products(&server.hint[rows.start * n..rows.end * n], &query.secret, t);
            let message = scheme.modulus().encode(&slots)?;
            let errors = key.noise(scheme, bytes, &message)?;
            log.add("hint", 0.5, errors);
        }
        Ok(())
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Query;

    fn new(set: &Set, shape: Shape, _: &mut Context) -> Result<Self> {
        Ok(Self {
            layout: set.layout(shape)?,
            errors: [set.lwe.error.sampler()?, set.ring.error.sampler()?],
            public: None,
            opener: AnswerOpener::new(set.ring.degree, set.switch)?,
            set: set.clone(),
        })
    }

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        self.public = Some(Public::new(&self.set, &self.layout, seed::received(NAME, &messages)?, context.kernel)?);
        Ok(())
    }

    /// For each index A s + e + scale * unit vector of the record's column, and keys that encrypt s.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let linear = self.layout.linear;
        indices.iter().try_for_each(|&index| linear.shape.check_index(index))?;
        let public = self.public()?;
        let secrets = self.set.lwe.keys(indices.len(), &mut context.rng)?;
        let (columns, [error, _]) = (linear.columns, &self.errors);
        let mut bodies = encrypt_zero(&public.matrix, columns, &secrets, error, context.kernel, &mut context.rng)?;
        let each = key_bytes(&self.set, &self.layout) as usize;
        let [mut keys, mut query] = [each, 4 * columns].map(|bytes| FrameBuilder::new(bytes * indices.len()));
        let distribution = self.set.ring.secret.distribution();
        let mut asked = Vec::with_capacity(indices.len());
        for (k, ((&index, secret), body)) in indices.iter().zip(secrets).zip(&mut bodies).enumerate() {
            let (_, column, _) = linear.place(index);
            body[column] = body[column].wrapping_add(linear.scale());
            query.put_words(4 * k * columns, body);
            let key = RlweKey::sample(&public.ring, &distribution, &mut context.rng)?;
            let bytes = self.keys(public, &secret, &key, context)?;
            keys.payload_mut()[k * each..][..each].copy_from_slice(&bytes);
            asked.push(Query { index, secret, key });
        }
        Ok((asked, vec![("keys", keys.finish(NAME, "keys")), ("query", query.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(answer_bytes(&self.set, &self.layout) as usize);
        asked.iter().zip(answers).map(|(query, answer)| self.open(query, answer)).collect()
    }

    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(answer_bytes(&self.set, &self.layout) as usize);
        for (query, answer) in asked.iter().zip(answers) {
            let mut of_query = NoiseLog::default();
            self.errors(query, server, answer, &mut of_query)?;
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}
