//! DoublePIR's server.

use std::borrow::Cow;

use lattice::lwe::PublicMatrix;
use lattice::wire::Writer;
use rand::RngCore;
use ring::matrix::{dense, packed};
use ring::words::Words;
use ring::{PackedMatrix, Seed, Vector32};

use super::Set;
use super::second::{HintUpdate, RowChange, answer_digits, digit_matrix};
use super::set::{Layers, NAME, SEED_BYTES};
use crate::core::{
    Change, Context, Database, Error, Frame, FrameBuilder, Group, Messages, Request, Result, TableBytes, check_queries,
    only, protocol,
};
use crate::parts::lwe_matrix::{EntryChange, LinearDatabase, multiply_centred};

/// Both layers' tables.
pub struct Server {
    layers: Layers,
    pub(super) database: LinearDatabase,
    first_public: PublicMatrix,
    second_public: PublicMatrix,
    /// H1.
    digits: PackedMatrix,
    /// A2, G x n, row-major, which every answer reads whole.
    second_matrix: Words,
    hint: Frame,
}

/// The queries of all requests, in order.
#[derive(Default)]
struct Queries<'a> {
    /// First queries, one for each index.
    first: Vec<Cow<'a, [u32]>>,
    /// Second queries, J for each index.
    second: Vec<Cow<'a, [u32]>>,
}

impl Server {
    fn parse<'a>(&self, requests: &'a [Request]) -> Result<Queries<'a>> {
        let layers = &self.layers;
        let (columns, groups) = (layers.first.columns, layers.groups);
        let mut queries = Queries::default();
        for request in requests {
            let message = only("query", &request.messages)?;
            check_queries(request)?;
            let length = layers.query_words();
            message.clone().check(NAME, "query", 4 * request.queries * length as u64)?;
            for k in 0..request.queries as usize {
                queries.first.push(message.native_words(4 * k * length, columns));
                let at = |j: usize| 4 * (k * length + columns + j * groups);
                queries.second.extend((0..layers.second_queries).map(|j| message.native_words(at(j), groups)));
            }
        }
        Ok(queries)
    }

    /// The first layer's answers to a request, which no client sees whole.
    pub(super) fn first_answers(&self, request: &Request, context: &Context) -> Result<Vec<Vec<u32>>> {
        let queries = self.parse(std::slice::from_ref(request))?;
        self.database.product(&queries.first, context.kernel, context.threads)
    }

    /// The plaintext of the second layer's answer to query `k` of a request for a row of the first layer: the digits of the row's hint, then
    /// of its word.
    pub(super) fn second_message(&self, request: &Request, k: usize, row: usize) -> Result<Vec<i32>> {
        let queries = self.parse(std::slice::from_ref(request))?;
        let query =
            queries.first.get(k).ok_or_else(|| Error::message("query", "fewer queries than were extracted."))?;
        let (group, copy) = (row / self.layers.copies, row % self.layers.copies);
        let mut digits: Vec<i32> = (0..self.layers.dimension).flat_map(|i| self.word_digits(copy, i, group)).collect();
        let mut own = vec![0i16; self.layers.gadget.length()];
        for word in self.database.row_products(row..row + 1, query) {
            self.layers.gadget.decompose(word, &mut own);
            digits.extend(own.iter().copied().map(i32::from));
        }
        Ok(digits)
    }

    /// A row of the first layer's hint, from its digits.
    pub(super) fn hint_row(&self, row: usize) -> Vec<u32> {
        let (group, copy) = (row / self.layers.copies, row % self.layers.copies);
        (0..self.layers.dimension).map(|i| self.layers.gadget.recompose(self.word_digits(copy, i, group))).collect()
    }

    /// The digits in H1 of word `i` of a row of the first layer's hint.
    fn word_digits(&self, copy: usize, i: usize, group: usize) -> impl DoubleEndedIterator<Item = i32> {
        let (length, bound) = (self.layers.gadget.length(), self.layers.gadget.bound() as i32);
        let row = (copy * self.layers.dimension + i) * length;
        (row..row + length).map(move |row| i32::from(self.digits.get(row, group)) - bound)
    }

    /// H1 q2, centred, for each second query.
    fn digit_products(&self, queries: &[Cow<[u32]>], products: &mut [&mut [u32]], context: &Context) -> Result<()> {
        let prepared: Vec<_> = queries.iter().map(|query| Vector32::prepare(query)).collect();
        packed::matvec(context.kernel, &self.digits, &prepared, products, context.threads)?;
        for (product, query) in products.iter_mut().zip(&prepared) {
            let offset = query.sum().wrapping_mul(self.layers.gadget.bound());
            product.iter_mut().for_each(|word| *word = word.wrapping_sub(offset));
        }
        Ok(())
    }

    /// Changes the digits of the rows of changed records; returns the payload of a `hint_delta`, empty unless `by_digits`.
    fn change_digits(&mut self, changes: &[EntryChange], update: &mut HintUpdate, by_digits: bool) -> Result<Vec<u8>> {
        let layers = self.layers;
        let bytes = if by_digits { changes.len() * layers.change_bytes() as usize } else { 0 };
        let mut payload = Vec::with_capacity(bytes);
        for change in changes {
            let (first_row, column, _) = layers.first.place(change.index);
            let mask = self.first_public.row(column);
            let rows = change.deltas.iter().enumerate();
            let rows = rows.map(|(entry, &delta)| self.change_row(first_row, entry, i32::from(delta) as u32, &mask));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            update.add(&rows)?;
            if by_digits {
                payload.extend_from_slice(&change.index.to_le_bytes());
                payload.extend(pack_changes(&layers, &rows));
            }
        }
        Ok(payload)
    }

    /// Adds `delta` times `mask` to the digits of an entry's row of the first layer's hint.
    fn change_row(&mut self, first_row: usize, entry: usize, delta: u32, mask: &[u32]) -> Result<RowChange> {
        let gadget = self.layers.gadget;
        let (length, bound) = (gadget.length(), gadget.bound() as i32);
        let (copy, group) = self.layers.locate(first_row, entry);
        let mut digits = vec![0i16; self.layers.dimension * length];
        let mut fresh = vec![0i16; length];
        for (i, changed) in digits.chunks_exact_mut(length).enumerate() {
            let row = (copy * self.layers.dimension + i) * length;
            for (old, digit) in changed.iter_mut().zip(self.word_digits(copy, i, group)) {
                *old = digit as i16;
            }
            let word = gadget.recompose(changed.iter().map(|&digit| i32::from(digit)));
            gadget.decompose(word.wrapping_add(delta.wrapping_mul(mask[i])), &mut fresh);
            for (t, (change, &digit)) in changed.iter_mut().zip(&fresh).enumerate() {
                self.digits.set(row + t, group, (i32::from(digit) + bound) as u16)?;
                *change = digit - *change;
            }
        }
        Ok(RowChange { copy, group, digits })
    }
}

/// The changes of one record's digits back to back, each plus p - 1, which makes it positive.
fn pack_changes(layers: &Layers, rows: &[RowChange]) -> Vec<u8> {
    let (bias, bits) = (layers.gadget.base() as i32 - 1, layers.change_bits());
    let mut writer = Writer::default();
    for &digit in rows.iter().flat_map(|row| &row.digits) {
        writer.write((i32::from(digit) + bias) as u64, bits);
    }
    writer.finish()
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database, computes D' A1, its digits H1 and the hint H2 = H1 A2 (phases `encode` and `hint`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layers = params.layers(database.shape())?;
        let (rows, n) = (layers.first.rows, layers.dimension);
        let mut seeds = [0u8; SEED_BYTES];
        context.rng.fill_bytes(&mut seeds);
        let [first_public, second_public] = publics(&seeds, n);
        let clock = &context.clock;
        let database =
            clock.time("encode", Group::Offline, || LinearDatabase::encode(layers.first, database, context))?;
        let (digits, second_matrix, hint) = clock.time("hint", Group::Offline, || {
            let mut first_hint = vec![0u32; rows * n];
            database.accumulate_hint(&first_public, &mut first_hint, context)?;
            let digits = digit_matrix(&layers, &first_hint)?;
            drop(first_hint);
            let words = layers.second_rows() * n;
            let mut builder = FrameBuilder::new(layers.hint_bytes());
            builder.payload_mut()[..SEED_BYTES].copy_from_slice(&seeds);
            let out = builder.words_mut(SEED_BYTES, words);
            multiply_centred(&digits, layers.gadget.bound(), &second_public, out, context)?;
            builder.words_to_wire(SEED_BYTES, words);
            // Prepared only now, after the buffers of the product were freed.
            let mut second_matrix = Words::zeroed(layers.groups * n)?;
            second_public.fill_rows(0, &mut second_matrix);
            Ok::<_, Error>((digits, second_matrix, builder.finish(NAME, "hint")))
        })?;
        Ok(Self { layers, database, first_public, second_public, digits, second_matrix, hint })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.database.stored_bytes()),
            TableBytes::new("first hint digits", self.digits.stored_bytes()),
            TableBytes::of("second public matrix", [size_of_val::<[u32]>(&self.second_matrix)]),
            TableBytes::of("hint", [self.hint.payload().len()]),
        ]
    }

    fn publish(&self) -> Messages {
        vec![("hint", self.hint.clone())]
    }

    /// Answers every query of every request; each table is read once for four queries.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let layers = &self.layers;
        let (groups, n, digit_rows) = (layers.groups, layers.dimension, layers.digit_rows());
        let Queries { first, second } = self.parse(requests)?;
        let products = self.database.product(&first, context.kernel, context.threads)?;
        let digits: Vec<i16> = products.iter().flat_map(|product| answer_digits(layers, product)).collect();
        let mut h1 = vec![0u32; first.len() * digit_rows * n];
        dense::digits_accumulate(context.kernel, &digits, groups, &self.second_matrix, n, &mut h1)?;

        let length = layers.answer_words();
        let words = |request: &Request| length * request.queries as usize;
        let mut builders: Vec<_> = requests.iter().map(|request| FrameBuilder::new(4 * words(request))).collect();
        let answers = builders.iter_mut().zip(requests).flat_map(|(builder, request)| {
            let words = builder.words_mut(0, words(request));
            words.chunks_exact_mut(length)
        });
        let h1 = h1.chunks_exact(digit_rows * n);
        let asked = digits.chunks_exact(digit_rows * groups).zip(second.chunks_exact(layers.second_queries));
        // Products with H1 are written directly into the message.
        let mut a2 = Vec::with_capacity(second.len());
        for ((answer, h1), (digits, queries)) in answers.zip(h1).zip(asked) {
            let (first, seconds) = answer.split_at_mut(h1.len());
            first.copy_from_slice(h1);
            for (words, query) in seconds.chunks_exact_mut(layers.second_rows() + digit_rows).zip(queries) {
                let (product, h2) = words.split_at_mut(layers.second_rows());
                h2.iter_mut().zip(digits.chunks_exact(groups)).for_each(|(h2, row)| *h2 = signed_product(row, query));
                a2.push(product);
            }
        }
        self.digit_products(&second, &mut a2, context)?;
        let respond = |(mut builder, request): (FrameBuilder, &Request)| {
            builder.words_to_wire(0, words(request));
            let answer = builder.finish(NAME, "answer");
            vec![("answer", answer)]
        };
        Ok(builders.into_iter().zip(requests).map(respond).collect())
    }

    /// Changes records. The message has the changes of the changed rows' digits or, if that is shorter, the whole hint.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let layers = self.layers;
        let done = self.database.change(changes)?;
        let by_digits = done.len() as u64 * layers.change_bytes() < layers.hint_bytes() as u64;
        let public = self.second_public.clone();
        // The hint is changed in place if no client shares its bytes, and put back in every case.
        let hint = std::mem::replace(&mut self.hint, Frame::empty());
        let mut update = HintUpdate::new(&layers, &public, context.kernel, hint);
        let payload = self.change_digits(&done, &mut update, by_digits);
        self.hint = update.finish();
        let payload = payload?;
        if !by_digits {
            return Ok(vec![("hint", self.hint.clone())]);
        }
        Ok(vec![("hint_delta", Frame::of(NAME, "hint_delta", &payload).at_epoch(self.hint.epoch()))])
    }
}

/// The public matrices A1 and A2 of the two seeds in the hint message.
pub(super) fn publics(seeds: &[u8], dimension: usize) -> [PublicMatrix; 2] {
    [0, 1].map(|i| {
        let mut seed = Seed([0; 16]);
        seed.0.copy_from_slice(&seeds[16 * i..16 * (i + 1)]);
        PublicMatrix::new(seed, dimension)
    })
}

fn signed_product(digits: &[i16], query: &[u32]) -> u32 {
    digits
        .iter()
        .zip(query)
        .fold(0, |sum, (&digit, &word)| sum.wrapping_add((i32::from(digit) as u32).wrapping_mul(word)))
}
