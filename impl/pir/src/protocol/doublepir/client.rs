//! DoublePIR's client.

use lattice::lwe::{PublicMatrix, encrypt_zero, residual, round};
use lattice::wire::Reader;
use ring::matrix::dense;
use ring::{DiscreteGaussian, Kernel};
use zeroize::Zeroizing;

use super::Set;
use super::second::{HintUpdate, RowChange};
use super::server::{Server, publics};
use super::set::{Layers, NAME, SEED_BYTES};
use crate::core::{
    Context, Error, Frame, FrameBuilder, Messages, NoiseLog, Record, Request, Result, Shape, only, protocol, update_of,
};
use crate::parts::lwe_matrix::{Lwe, check_seeds, impossible_change, read_changes};

/// Rows of the first layer that are decrypted outside an answer, at most.
const ROWS: usize = 1024;

/// The stage of the noise that a diagnosis adds.
const FIRST_LAYER: &str = "first_layer";

struct Offline {
    first_public: PublicMatrix,
    second_public: PublicMatrix,
    hint: Frame,
}

/// One requested index, with its secrets: one for the first layer, one for each second query.
pub struct Query {
    index: u64,
    /// The number of this first-layer key in the noise log.
    number: u64,
    first_key: Zeroizing<Vec<u32>>,
    second_keys: Vec<Zeroizing<Vec<u32>>>,
}

/// The hint and the tables for decryption with it.
pub struct Client {
    lwe: Lwe,
    layers: Layers,
    error: DiscreteGaussian,
    offline: Option<Offline>,
    /// Number of first-layer keys so far.
    keys: u64,
}

/// A word of the first layer's answer, decrypted from the second layer's.
struct Word {
    phase: u32,
    /// The phases of the digits of its row of the hint, then of its own digits.
    digit_phases: Vec<u32>,
}

/// The phase of a word of the first layer's answer, with the row of its hint.
fn first_phase(query: &Query, row: &[u32], body: u32) -> u32 {
    let mask = row.iter().zip(&*query.first_key);
    body.wrapping_sub(mask.fold(0u32, |sum, (&h, &s)| sum.wrapping_add(h.wrapping_mul(s))))
}

impl Client {
    fn receive_hint(&mut self, hint: Frame) -> Result<()> {
        let hint = hint.check(NAME, "hint", self.layers.hint_bytes() as u64)?;
        let [first_public, second_public] = publics(&hint.payload()[..SEED_BYTES], self.lwe.dimension);
        self.offline = Some(Offline { first_public, second_public, hint });
        Ok(())
    }

    fn offline(&self) -> Result<&Offline> {
        self.offline.as_ref().ok_or_else(|| Error::message("hint", "it must be fetched before a query."))
    }

    /// Calls `each` for every query and entry of its record, with their numbers and the word of the first layer's answer in the entry's row.
    fn words(
        &self,
        asked: &[Query],
        answer: &Messages,
        kernel: Kernel,
        mut call: impl FnMut((usize, usize), Word) -> Result<()>,
    ) -> Result<()> {
        let message = only("answer", answer)?;
        let layers = &self.layers;
        let words = layers.answer_words();
        message.clone().check(NAME, "answer", 4 * (words * asked.len()) as u64)?;
        message.check_epoch("answer", self.offline()?.hint.epoch())?;
        for (k, query) in asked.iter().enumerate() {
            let answer = message.words(4 * k * words, words);
            for (j, key) in query.second_keys.iter().enumerate() {
                for copy in 0..layers.copies {
                    let (row, body, digit_phases) = self.second_layer(&answer, j, copy, key, kernel)?;
                    let phase = first_phase(query, &row, body);
                    call((k, j * layers.copies + copy), Word { phase, digit_phases })?;
                }
            }
        }
        Ok(())
    }

    /// The largest error that decrypts correctly.
    fn threshold(&self) -> f64 {
        f64::from(self.layers.first.scale()) / 2.0
    }

    /// The centred message of a phase.
    fn round(&self, phase: u32) -> i32 {
        round(phase, self.layers.first.scale(), self.layers.first.code.plain_modulus()).0
    }

    /// The error of a phase with a known message.
    fn error(&self, phase: u32, message: i32) -> i32 {
        residual(phase, self.layers.first.scale(), message)
    }

    /// Logs the errors of rows of the first layer's answer to a query; each is given by its number, its row of the hint and its word.
    pub(super) fn log_first_layer<'a>(
        &self,
        server: &Server,
        query: &Query,
        rows: impl Iterator<Item = (usize, &'a [u32], u32)>,
        noise: &mut NoiseLog,
    ) {
        let (_, column, _) = self.layers.first.place(query.index);
        let error = |(row, hint, body): (usize, &[u32], u32)| {
            self.error(first_phase(query, hint, body), server.database.entry(row, column))
        };
        noise.add_under(Some(query.number), FIRST_LAYER, self.threshold(), rows.map(error));
    }

    /// Decrypts second query `j` in one copy: the row of the first layer's hint, the word of its answer, and the phases of their digits.
    fn second_layer(
        &self,
        answer: &[u32],
        j: usize,
        copy: usize,
        key: &[u32],
        kernel: Kernel,
    ) -> Result<(Vec<u32>, u32, Vec<u32>)> {
        let layers = &self.layers;
        let (n, length) = (layers.dimension, layers.gadget.length());
        let (h1, seconds) = answer.split_at(layers.digit_rows() * n);
        let each = layers.second_rows() + layers.digit_rows();
        let (a2, h2) = seconds[j * each..(j + 1) * each].split_at(layers.second_rows());
        let rows = copy * n * length..(copy + 1) * n * length;
        let hint = &self.offline()?.hint;
        let hint = hint.native_words(SEED_BYTES + 4 * rows.start * n, rows.len() * n);
        let h1 = &h1[copy * length * n..(copy + 1) * length * n];
        let mut phases = Vec::with_capacity((n + 1) * length);
        let mut decrypt = |masks: &[u32], bodies: &[u32]| -> Result<Vec<u32>> {
            let mut products = vec![0u32; bodies.len()];
            dense::matvec_u32(kernel, masks, key, &mut products, 1)
                .map_err(|e| Error::message("answer", e.to_string()))?;
            let first = phases.len();
            phases.extend(bodies.iter().zip(products).map(|(&body, product)| body.wrapping_sub(product)));
            let words = phases[first..].chunks_exact(length);
            Ok(words.map(|phases| layers.gadget.recompose(phases.iter().map(|&phase| self.round(phase)))).collect())
        };
        let row = decrypt(&hint, &a2[rows])?;
        let body = decrypt(h1, &h2[copy * length..(copy + 1) * length])?;
        Ok((row, body[0], phases))
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Query;

    fn new(params: &Set, shape: Shape, _: &mut Context) -> Result<Self> {
        Ok(Self {
            lwe: params.lwe.clone(),
            layers: params.layers(shape)?,
            error: params.lwe.error.sampler()?,
            offline: None,
            keys: 0,
        })
    }

    fn receive(&mut self, messages: Messages, _: &mut Context) -> Result<()> {
        self.receive_hint(only("hint", &messages)?.clone())
    }

    /// For each index: the column under A1, and for each second query the group under A2; every vector under a fresh secret.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let layers = self.layers;
        indices.iter().try_for_each(|&index| layers.first.shape.check_index(index))?;
        let (columns, groups, seconds) = (layers.first.columns, layers.groups, layers.second_queries);
        let first_keys = self.lwe.keys(indices.len(), &mut context.rng)?;
        let second_keys = self.lwe.keys(indices.len() * seconds, &mut context.rng)?;
        let Offline { first_public, second_public, .. } = self.offline()?;
        let (kernel, rng) = (context.kernel, &mut context.rng);
        let mut first = encrypt_zero(first_public, columns, &first_keys, &self.error, kernel, rng)?;
        let mut second = encrypt_zero(second_public, groups, &second_keys, &self.error, kernel, rng)?;
        let length = layers.query_words();
        let mut builder = FrameBuilder::new(4 * length * indices.len());
        for (k, &index) in indices.iter().enumerate() {
            let (first_row, column, _) = layers.first.place(index);
            first[k][column] = first[k][column].wrapping_add(layers.first.scale());
            builder.put_words(4 * k * length, &first[k]);
            for (j, body) in second[k * seconds..(k + 1) * seconds].iter_mut().enumerate() {
                let group = first_row / layers.copies + j;
                body[group] = body[group].wrapping_add(layers.first.scale());
                builder.put_words(4 * (k * length + columns + j * groups), body);
            }
        }
        let mut second_keys = second_keys.into_iter();
        let numbers = self.keys..;
        self.keys += indices.len() as u64;
        let asked = indices.iter().zip(first_keys).zip(numbers).map(|((&index, first_key), number)| Query {
            index,
            number,
            first_key,
            second_keys: second_keys.by_ref().take(seconds).collect(),
        });
        let asked = asked.collect();
        let message = builder.finish(NAME, "query");
        Ok((asked, vec![("query", message)]))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, context: &Context) -> Result<Vec<Record>> {
        let mut entries = vec![Vec::new(); asked.len()];
        self.words(asked, answer, context.kernel, |(k, _), word| {
            entries[k].push(self.layers.first.entry(word.phase));
            Ok(())
        })?;
        Ok(asked.iter().zip(&entries).map(|(query, entries)| self.layers.first.record(query.index, entries)).collect())
    }

    /// Logs the errors of both layers: for the second those of every digit, for the first those of the words made of the digits.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (request, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let mut all: Vec<(Vec<i32>, Vec<i32>)> = asked.iter().map(|_| Default::default()).collect();
        self.words(asked, answer, context.kernel, |(k, entry), word| {
            let (first_row, column, _) = self.layers.first.place(asked[k].index);
            let (row, (first_errors, second_errors)) = (first_row + entry, &mut all[k]);
            let digits = server.second_message(request, k, row)?;
            second_errors.extend(word.digit_phases.iter().zip(digits).map(|(&phase, digit)| self.error(phase, digit)));
            first_errors.push(self.error(word.phase, server.database.entry(row, column)));
            Ok(())
        })?;
        for (query, (first_errors, second_errors)) in asked.iter().zip(all) {
            context.noise.add("second_layer", self.threshold(), second_errors);
            context.noise.add_under(Some(query.number), FIRST_LAYER, self.threshold(), first_errors);
        }
        Ok(())
    }

    /// Computes the first layer's answers once more, because an answer shows only one word for each entry of a record, and decrypts random
    /// rows of them with the hint in H1. Evenly spaced rows could all belong to the same digits of records, whose noise differs.
    fn diagnose(&self, asked: &[Query], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        let answers = server.first_answers(request, context)?;
        let length = answers.first().map_or(0, Vec::len);
        let rows = rand::seq::index::sample(&mut context.rng, length, ROWS.min(length)).into_vec();
        let hints: Vec<_> = rows.iter().map(|&row| server.hint_row(row)).collect();
        for (query, answer) in asked.iter().zip(&answers) {
            let rows = rows.iter().zip(&hints).map(|(&row, hint)| (row, &hint[..], answer[row]));
            self.log_first_layer(server, query, rows, &mut context.noise);
        }
        Ok(())
    }

    fn update(&mut self, messages: &Messages, context: &mut Context) -> Result<()> {
        let (layers, (name, message)) = (self.layers, update_of(messages)?);
        if name == "hint" {
            check_seeds(&self.offline()?.hint.payload()[..SEED_BYTES], message)?;
            return self.receive_hint(message.clone());
        }
        // The hint is moved out only after everything has been checked.
        let changes = read_changes(NAME, message, layers.change_bytes() as usize, layers.first.shape)?;
        message.check_epoch("hint_delta", self.offline()?.hint.epoch().wrapping_add(1))?;
        let changed = changes.into_iter().map(|(index, digits)| row_changes(&layers, index, digits));
        let changed = changed.collect::<Result<Vec<_>>>()?;
        let Some(Offline { first_public, second_public, hint }) = self.offline.take() else { return Ok(()) };
        let mut update = HintUpdate::new(&layers, &second_public, context.kernel, hint);
        changed.iter().try_for_each(|rows| update.add(rows))?;
        let hint = update.finish();
        self.offline = Some(Offline { first_public, second_public, hint });
        Ok(())
    }
}

/// The changed digits of the rows of a record, which are differences of two digits.
fn row_changes(layers: &Layers, index: u64, digits: &[u8]) -> Result<Vec<RowChange>> {
    let (first_row, _, _) = layers.first.place(index);
    let mut reader = Reader::of(digits);
    let bias = layers.gadget.base() as i32 - 1;
    let row = |entry| {
        let (copy, group) = layers.locate(first_row, entry);
        let digits = (0..layers.dimension * layers.gadget.length()).map(|_| {
            let change = reader.bits(layers.change_bits()) as i32 - bias;
            if change > bias { Err(impossible_change(index)) } else { Ok(change as i16) }
        });
        digits.collect::<Result<_>>().map(|digits| RowChange { copy, group, digits })
    };
    (0..layers.first.code.entries_per_record() as usize).map(row).collect()
}
