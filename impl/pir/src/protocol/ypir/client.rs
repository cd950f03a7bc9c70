//! The client of the two layers: no state between queries but the public seed, fresh secrets for every index.

use lattice::{RlweKey, SplitRing, SplitRlwe};
use ring::DiscreteGaussian;
use zeroize::Zeroizing;

use super::layout::{Layers, MAX_PACKED_ENTRIES};
use super::public::Public;
use super::server::Server;
use super::set::{Body, Set};
use crate::core::seed;
use crate::core::{
    Context, Error, Frame, FrameBuilder, Messages, NoiseLog, Record, Request, Result, Shape, only, protocol,
};
use crate::parts::digits::values_of;

/// One requested index, with the secrets of its query.
pub struct Query {
    index: u64,
    first_key: Zeroizing<Vec<i32>>,
    second_key: RlweKey<u32>,
}

/// The public seed's expansions.
pub struct Client {
    params: Set,
    layers: Layers,
    first_error: DiscreteGaussian,
    second_error: DiscreteGaussian,
    public: Option<Public>,
    /// The ring in which answers are decrypted.
    opener: SplitRing,
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Query;

    /// A client that has not yet seen the seed.
    fn new(params: &Set, shape: Shape, _: &mut Context) -> Result<Self> {
        Ok(Self {
            params: params.clone(),
            layers: Layers::choose(params, shape)?,
            first_error: params.lwe.error.sampler()?,
            second_error: params.rlwe.error.sampler()?,
            public: None,
            opener: SplitRing::new(params.rlwe.degree)?,
        })
    }

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let seed = seed::received(self.params.protocol(), &messages)?;
        self.public = Some(Public::new(&self.params, &self.layers, seed, context.kernel)?);
        Ok(())
    }

    /// For each index: the row under the first layer's A, the group under the second layer's masks, packing keys.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let Self { params, layers, .. } = self;
        indices.iter().try_for_each(|&index| layers.first.shape.check_index(index))?;
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let rng = &mut context.rng;
        let (secret, dimension) = (params.lwe.secret.distribution(), params.lwe.dimension);
        let first_keys: Vec<Zeroizing<Vec<i32>>> =
            (0..indices.len()).map(|_| Ok(secret.sample_small(dimension, rng)?)).collect::<Result<_>>()?;
        let firsts = public.first.encrypt_zero(layers.first.columns, &first_keys, &self.first_error, rng)?;
        let key_bytes = layers.key_bytes(params) as usize;
        let mut keys = FrameBuilder::new(key_bytes * indices.len());
        let mut query = FrameBuilder::new(layers.query_bytes() * indices.len());
        let parts = query.payload_mut().chunks_exact_mut(layers.query_bytes()).enumerate();
        let mut asked = Vec::with_capacity(indices.len());
        for (((&index, first_key), mut first), (k, query)) in indices.iter().zip(first_keys).zip(firsts).zip(parts) {
            let (row, column, _) = layers.first.place(index);
            first[column] = first[column].wrapping_add(params.first_scale());
            let (first_part, second_part) = query.split_at_mut(layers.first_bytes);
            for (bytes, word) in first_part.chunks_exact_mut(4).zip(&first) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            let second_key = RlweKey::sample(&public.ring, &params.rlwe.secret.distribution(), rng)?;
            let (group, _) = layers.locate(row);
            let message = (layers.second_index(group), params.second_scale());
            public.second.body(
                &second_key,
                message,
                &self.second_error,
                params.layers.query_coefficient_bytes,
                rng,
                second_part,
            );
            if key_bytes > 0 {
                let packing = &public.packing;
                let packed = packing.keys(&second_key, &public.masks, &self.second_error, rng)?;
                keys.payload_mut()[k * key_bytes..][..key_bytes].copy_from_slice(&packed.to_bytes(packing));
            }
            asked.push(Query { index, first_key, second_key });
        }
        let mut messages = vec![("query", query.finish(self.params.protocol(), "query"))];
        if key_bytes > 0 {
            messages.insert(0, ("keys", keys.finish(self.params.protocol(), "keys")));
        }
        Ok((asked, messages))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (q1, bits) = (i64::from(self.params.layers.switched_modulus), self.params.layers.entry_bits);
        let entry = |phase: i64| {
            // The message nearest to phase 2^bits / q1; a centred one of this and the next turn of the circle.
            let message = ((phase << bits) + q1 / 2).div_euclid(q1);
            (message + i64::from(self.layers.first.code.offset())).rem_euclid(1 << bits) as u16
        };
        let record = |(query, answer): (&Query, &[u8])| -> Result<Record> {
            let phases = self.first_phases(query, &self.open(query, answer)?);
            let entries: Vec<u16> = phases.into_iter().map(entry).collect();
            Ok(self.layers.first.record(query.index, &entries))
        };
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(self.layers.answer_bytes(&self.params));
        asked.iter().zip(answers).map(record).collect()
    }

    /// Logs, for every query, the errors of its answer's coefficients and of the first layer's samples whose digits they are.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (request, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let layers = &self.layers;
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(layers.answer_bytes(&self.params));
        let threshold =
            f64::from(self.params.layers.switched_modulus) / 2f64.powi(self.params.layers.entry_bits as i32 + 1);
        for (k, (query, answer)) in asked.iter().zip(answers).enumerate() {
            let (row, column, _) = layers.first.place(query.index);
            let rows = row..row + layers.copies;
            let mut of_query = NoiseLog::default();
            let opener = self.opener.key(&query.second_key)?;
            let mut ciphertexts = self.ciphertexts(answer);
            for first in rows.clone().step_by(MAX_PACKED_ENTRIES as usize) {
                // Records that are selected whole may have many rows, with a ciphertext each; others have few, which share ciphertexts.
                let some = first..rows.end.min(first + MAX_PACKED_ENTRIES as usize);
                let count = if layers.selects_whole() { some.len() } else { usize::MAX };
                let digits = server.second_messages(request, k, some)?;
                for (i, ciphertext) in ciphertexts.by_ref().take(count).enumerate() {
                    let (messages, p) = (self.messages(&digits, i), 1 << self.params.layers.digit_bits);
                    let (threshold, errors) = self.params.switch.errors(&opener, &ciphertext?, p, messages)?;
                    of_query.add("second_layer", threshold, errors);
                }
            }
            let phases = self.first_phases(query, &self.open(query, answer)?);
            let errors = rows.zip(phases).map(|(row, phase)| self.first_error(phase, server.first.entry(row, column)));
            of_query.add("first_layer", threshold, errors);
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}

impl Client {
    /// The known coefficients of ciphertext `i` of an answer that decrypts to those digits, for each copy those of the hint and then of the
    /// answer. An unpacked sample has its message in the constant coefficient only, and packing half the ring leaves the upper coefficients
    /// arbitrary.
    fn messages(&self, digits: &[Vec<i16>], i: usize) -> Vec<i64> {
        let Layers { body, copies, hint_digits, degree, .. } = self.layers;
        let samples: Vec<i16> = digits.iter().flat_map(|digits| &digits[hint_digits..]).copied().collect();
        let (mut messages, kept): (Vec<i16>, usize) = match body {
            Body::Unpacked if i >= copies => (vec![samples[i - copies]], 1),
            Body::Packed if i >= copies => (samples, self.layers.body_gamma(self.params.method())),
            Body::Merged if i == 0 => ([&digits[i][..hint_digits], &samples].concat(), degree),
            Body::Unpacked | Body::Packed | Body::Merged => (digits[i][..hint_digits].to_vec(), degree),
            Body::Traced | Body::Selected => (digits[i].clone(), degree),
        };
        messages.resize(kept, 0);
        messages.into_iter().map(i64::from).collect()
    }

    /// The message of a response to `queries` queries.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        let bytes = self.layers.answer_bytes(&self.params);
        only("answer", answer)?.clone().check(self.params.protocol(), "answer", (bytes * queries) as u64)
    }

    /// The ciphertexts of a query's answer.
    fn ciphertexts<'a>(&self, answer: &'a [u8]) -> impl Iterator<Item = Result<SplitRlwe>> + use<'a> {
        let (degree, switch) = (self.layers.degree, self.params.switch);
        let each = switch.bytes(degree, degree) as usize;
        answer.chunks_exact(each).map(move |bytes| switch.read(degree, degree, bytes))
    }

    /// The digits modulo p that an answer decrypts to.
    fn open(&self, query: &Query, answer: &[u8]) -> Result<Vec<Vec<u64>>> {
        let opener = self.opener.key(&query.second_key)?;
        let p = 1u64 << self.params.layers.digit_bits;
        self.ciphertexts(answer).map(|ciphertext| opener.decode(&ciphertext?, p).map_err(Error::from)).collect()
    }

    /// The phases modulo q1 of the first layer's samples made of these digits, copy by copy.
    fn first_phases(&self, query: &Query, residues: &[Vec<u64>]) -> Vec<i64> {
        let (params, layers) = (&self.params, &self.layers);
        let phase = |copy: usize| {
            let masks = values_of(params.digits(), &residues[copy][..layers.hint_digits], params.lwe.dimension);
            let digits: Vec<u64> =
                (0..layers.answer_digits).map(|digit| self.answer_digit(residues, copy, digit)).collect();
            let body = values_of(params.digits(), &digits, 1)[0];
            let products = masks.iter().zip(&*query.first_key);
            let mask: i64 = products.map(|(&mask, &s)| i64::from(mask) * i64::from(s)).sum();
            (i64::from(body) - mask).rem_euclid(params.layers.switched_modulus.into())
        };
        (0..layers.copies).map(phase).collect()
    }

    /// The error of a phase modulo q1 with a known centred entry.
    fn first_error(&self, phase: i64, entry: i32) -> i32 {
        let q1 = i64::from(self.params.layers.switched_modulus);
        let error = (phase - ((i64::from(entry) * q1) >> self.params.layers.entry_bits)).rem_euclid(q1);
        (if error > q1 / 2 { error - q1 } else { error }) as i32
    }

    /// Digit `digit` of the first layer's answer in copy `copy`.
    fn answer_digit(&self, residues: &[Vec<u64>], copy: usize, digit: usize) -> u64 {
        let layers = &self.layers;
        let sample = copy * layers.answer_digits + digit;
        match layers.body {
            Body::Traced | Body::Selected => residues[copy][layers.hint_digits + digit],
            Body::Unpacked => residues[layers.copies + sample][0],
            Body::Packed => residues[layers.copies][sample],
            Body::Merged => residues[0][layers.hint_digits + sample],
        }
    }
}
