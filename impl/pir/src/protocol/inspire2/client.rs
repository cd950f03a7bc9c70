//! InsPIRe^(2)'s client: no state between queries but the public seed, a fresh secret for every index.

use lattice::wire::{Writer, residue_bits};
use lattice::{RlweKey, SplitKey, SplitRing, SplitRlwe};
use ring::DiscreteGaussian;

use super::Set;
use super::layout::Layout;
use super::public::Public;
use super::second::digits_of;
use super::server::Server;
use super::set::NAME;
use crate::core::database::Record;
use crate::core::error::{Error, Result};
use crate::core::noise::NoiseLog;
use crate::core::scheme::{self, Context, Messages, Request, only};
use crate::core::seed;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::Shape;
use crate::parts::digits::values_of;
use crate::parts::ring_matrix::{Switch, read_record};

/// One index asked for, with the secret of its query.
pub struct Query {
    index: u64,
    key: RlweKey<u32>,
}

/// The public seed's expansions.
pub struct Client {
    params: Set,
    layout: Layout,
    error: DiscreteGaussian,
    public: Option<Public>,
    /// Where answers are decrypted.
    opener: SplitRing,
}

impl Client {
    pub(super) fn new(params: &Set, shape: Shape) -> Result<Self> {
        Ok(Self {
            params: params.clone(),
            layout: Layout::choose(params, shape)?,
            error: params.rlwe.error.sampler()?,
            public: None,
            opener: SplitRing::new(params.rlwe.degree)?,
        })
    }
}

impl scheme::Client for Client {
    type Server = Server;
    type Query = Query;

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let seed = seed::received(NAME, &messages)?;
        self.public = Some(Public::new(&self.params, &self.layout, seed, context.kernel)?);
        Ok(())
    }

    /// For each index: row and column of its cell under the public masks of both layers, packing keys.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let Self { params, layout, .. } = self;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let (key_bytes, bytes) = (public.key_bytes(), layout.query_bytes(params));
        let mut keys = FrameBuilder::new(key_bytes * indices.len());
        let mut query = FrameBuilder::new(bytes * indices.len());
        let parts = keys.payload_mut().chunks_exact_mut(key_bytes);
        let parts = parts.zip(query.payload_mut().chunks_exact_mut(bytes));
        let (mut asked, rng) = (Vec::with_capacity(indices.len()), &mut context.rng);
        for (&index, (keys, query)) in indices.iter().zip(parts) {
            let key = RlweKey::sample(&public.ring, &params.rlwe.secret.distribution(), rng)?;
            let (row, column, _) = layout.place(index);
            let mut writer = Writer::with_capacity(bytes);
            for (masks, at) in [(&public.first, row), (&public.second, layout.second_index(column))] {
                let residues = masks.residues(&key, (at, params.scale()), &self.error, rng);
                let primes = public.ring.primes();
                for (residues, &prime) in residues.chunks_exact(residues.len() / primes.len()).zip(primes) {
                    writer.write_all(residues, residue_bits(prime));
                }
            }
            query.copy_from_slice(&writer.finish());
            keys.copy_from_slice(&public.keys(&key, &self.error, rng)?);
            asked.push(Query { index, key });
        }
        let messages = vec![("keys", keys.finish(NAME, "keys")), ("query", query.finish(NAME, "query"))];
        Ok((asked, messages))
    }

    fn extract(&self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let records = self.decrypt(asked, answer)?;
        Ok(records)
    }

    /// Logs the errors of every digit of the cells asked for and of the entries that the digits are of.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (request, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let (layout, switch, p) = (&self.layout, self.params.switch, 1u64 << self.params.entry_bits);
        let q1 = u64::from(self.params.switched_modulus);
        let message = self.message(answer, asked.len())?;
        for (k, (query, answer)) in asked.iter().zip(self.answers(&message)).enumerate() {
            let opener = self.opener.key(&query.key)?;
            let (row, column, _) = layout.place(query.index);
            let mut of_query = NoiseLog::default();
            let digits = server.second_messages((request, k), column, context)?;
            let copies = answer.chunks_exact(layout.copy_bytes(&self.params)).zip(digits);
            for (copy, (answer, digits)) in copies.enumerate() {
                let mut digits = digits.into_iter();
                for part in self.ciphertexts(answer) {
                    let (ciphertext, kept) = part?;
                    let messages: Vec<i64> = digits.by_ref().take(kept).map(i64::from).collect();
                    let (threshold, errors) = switch.errors(&opener, &ciphertext, p, messages)?;
                    of_query.add("second_layer", threshold, errors);
                }
                let first = self.first_layer(&opener, answer)?;
                let entries = server.first_entries(row, column, copy).map(i64::from);
                let switched = Switch { mask_modulus: q1, body_modulus: q1 };
                let (threshold, errors) = switched.errors(&opener, &first, p, entries)?;
                of_query.add("first_layer", threshold, errors);
            }
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}

impl Client {
    fn decrypt(&self, asked: &[Query], answer: &Messages) -> Result<Vec<Record>> {
        let layout = &self.layout;
        let message = self.message(answer, asked.len())?;
        let mut records = Vec::with_capacity(asked.len());
        for (query, answer) in asked.iter().zip(self.answers(&message)) {
            let opener = self.opener.key(&query.key)?;
            let mut entries = Vec::with_capacity(layout.entries());
            for answer in answer.chunks_exact(layout.copy_bytes(&self.params)) {
                let first = self.first_layer(&opener, answer)?;
                entries.extend(opener.decode(&first, 1 << self.params.entry_bits)?);
            }
            let (width, offset, first) = (self.params.entry_bits, self.params.offset(), layout.place(query.index).2);
            records.push(read_record(&entries, width, offset, first, layout.shape.record_bits as usize));
        }
        Ok(records)
    }

    /// The message of a response to as many queries.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        let bytes = self.layout.answer_bytes(&self.params);
        only("answer", answer)?.clone().check(NAME, "answer", (bytes * queries) as u64)
    }

    /// The answer to each query in a message.
    fn answers<'a>(&self, message: &'a Frame) -> std::slice::ChunksExact<'a, u8> {
        message.payload().chunks_exact(self.layout.answer_bytes(&self.params))
    }

    /// The ciphertexts of one copy of a cell, each with how many of its coefficients are digits.
    fn ciphertexts(&self, answer: &[u8]) -> impl Iterator<Item = Result<(SplitRlwe, usize)>> {
        let (switch, degree) = (self.params.switch, self.layout.ring_degree);
        let mut rest = answer;
        self.layout.ciphertexts(&self.params).into_iter().map(move |(coefficients, kept)| {
            let (bytes, others) = rest.split_at(switch.bytes(degree, coefficients) as usize);
            rest = others;
            Ok((switch.read(degree, coefficients, bytes)?, kept))
        })
    }

    /// The first layer's ciphertext that the second layer's digits are of, for one copy of a cell.
    fn first_layer(&self, opener: &SplitKey, answer: &[u8]) -> Result<SplitRlwe> {
        let (params, layout) = (&self.params, &self.layout);
        let (p, degree) = (1u64 << params.entry_bits, layout.ring_degree);
        let mut digits = Vec::with_capacity(layout.mask_digits + layout.body_digits);
        for part in self.ciphertexts(answer) {
            let (ciphertext, kept) = part?;
            digits.extend(opener.decode(&ciphertext, p)?.into_iter().take(kept));
        }
        let (masks, bodies) = digits.split_at(layout.mask_digits);
        let (q1, bits) = (u64::from(params.switched_modulus), params.value_bits());
        let mut writer = Writer::with_capacity(SplitRlwe::wire_bytes(degree, layout.gamma, q1, q1));
        for (digits, count) in [(masks, degree), (bodies, layout.gamma)] {
            // Wrong digits may give values of q1 or more: reducing keeps the (wrong) record well formed.
            let values = values_of(digits_of(params), digits, count);
            writer.write_all(&values.iter().map(|value| value % params.switched_modulus).collect::<Vec<_>>(), bits);
        }
        SplitRlwe::from_bytes((degree, layout.gamma), (q1, q1), &writer.finish()).map_err(Error::from)
    }
}
