//! The server of the two layers.

use std::ops::Range;

use lattice::Rlwe;
use lattice::pack::PackingKeys;
use ring::{Coefficient, Ntt, Poly, ResidueVector, Seed};

use super::layout::Layers;
use super::public::Public;
use super::second::{Second, answer_digits, switched_digits};
use super::set::{Body, Set};
use crate::core::seed::{self, fresh_seed};
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, answers, for_each_query, protocol,
};
use crate::parts::lwe_matrix::{LinearDatabase, NegacyclicHint};
use crate::parts::ring_matrix::{
    Selector, bodies, body_poly, column_masks, pack_all, read_coefficients, read_keys, read_residues, workspace,
};

/// Both databases, the hints and tables between them, and the public seed.
pub struct Server {
    pub(super) public: Public,
    seed: Seed,
    pub(super) first: LinearDatabase,
    pub(super) hint: NegacyclicHint,
    /// The second layer; `None` if records are selected whole.
    second: Option<Second>,
}

/// The queries of all requests, in order.
#[derive(Default)]
struct Queries {
    first: Vec<Vec<u32>>,
    second: Vec<ResidueVector>,
    keys: Vec<PackingKeys>,
    /// Replaces `second` and `keys` if records are selected whole.
    selectors: Vec<Selector>,
}

impl Server {
    fn parse(&self, requests: &[Request]) -> Result<Queries> {
        let layers = &self.public.layers;
        let expected = [("keys", layers.key_bytes(&self.public.params) as usize), ("query", layers.query_bytes())];
        let mut queries = Queries::default();
        for_each_query(self.public.params.protocol(), requests, &expected, |parts| {
            // The first message has the keys, if there are any.
            let (keys, query) = parts.split_at(parts.len() - 1);
            // The second part may start at any byte: words are read from an aligned copy.
            let (first, second) = query[0].split_at(layers.first_bytes);
            let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            queries.first.push(first.chunks_exact(4).map(word).collect());
            let (ring, bytes) = (&self.public.ring, self.public.params.layers.query_coefficient_bytes);
            if layers.selects_whole() {
                let residues = read_residues(ring, bytes, second)?;
                queries.selectors.push(Selector::new(ring, &self.public.second, &residues));
            } else {
                queries.second.push(read_coefficients(ring, bytes, second)?);
            }
            for keys in keys {
                queries.keys.push(read_keys(&self.public.packing, keys)?);
            }
            Ok(())
        })?;
        Ok(queries)
    }

    /// The answers if records are selected whole (phase `answer_selection`).
    fn selected(&self, queries: &Queries, first: &[Vec<u32>], context: &Context) -> Result<Vec<Vec<u8>>> {
        let answers = context.clock.time("answer_selection", Group::Online, || {
            self.selected_sums(&queries.selectors, first, context.threads)
        })?;
        Ok(answers.into_iter().map(|ciphertexts| ciphertexts.concat()).collect())
    }

    /// The answers if outputs are packed (phases `answer_second_layer`, `answer_packing`, `answer_body`).
    fn packed(
        &self,
        second: &Second,
        queries: &Queries,
        first: &[Vec<u32>],
        context: &Context,
    ) -> Result<Vec<Vec<u8>>> {
        let (clock, kernel, threads) = (&context.clock, context.kernel, context.threads);
        let outputs = clock
            .time("answer_second_layer", Group::Online, || bodies(kernel, &second.matrix, &queries.second, threads))?;
        let packed = clock.time("answer_packing", Group::Online, || {
            pack_all(&self.public.ring, &second.tables.all()?, &queries.keys, &outputs)
        })?;
        clock.time("answer_body", Group::Online, || {
            let each = packed.into_iter().enumerate();
            each.map(|(k, packed)| self.body(second, queries, k, &first[k], packed, context)).collect()
        })
    }

    /// One query's answer: the digits of the first layer's answer pass the second layer and join the packed ciphertexts.
    fn body(
        &self,
        second: &Second,
        queries: &Queries,
        k: usize,
        first: &[u32],
        packed: Vec<Rlwe<u32, Coefficient>>,
        context: &Context,
    ) -> Result<Vec<u8>> {
        let (ring, layers) = (&*self.public.ring, &self.public.layers);
        let digits = answer_digits(&self.public, first)?;
        let bodies = bodies(context.kernel, &digits, std::slice::from_ref(&queries.second[k]), context.threads)?;
        let masks = column_masks(&digits, ring, &second.query_masks, (0, digits.cols()), 1)?;
        let mut packed = packed;
        let more = match layers.body {
            Body::Traced => {
                self.add_traced(&queries.keys[k], masks, &bodies[0], &mut packed)?;
                Vec::new()
            }
            Body::Unpacked => {
                let samples = masks.into_iter().enumerate();
                samples.map(|(j, mask)| Rlwe { a: ring.inverse(mask), b: body_poly(ring, &bodies[0], j, 1) }).collect()
            }
            Body::Selected => Vec::new(),
            Body::Packed => vec![self.packed_body(&queries.keys[k], &masks, &bodies[0])?],
            Body::Merged => {
                let body = self.packed_body(&queries.keys[k], &masks, &bodies[0])?;
                if let Some(first) = packed.first_mut() {
                    first.add_assign(ring, &body.mul_monomial(ring, layers.hint_digits));
                }
                Vec::new()
            }
        };
        let mut answer = Vec::with_capacity(layers.answer_bytes(&self.public.params));
        for ciphertext in packed.iter().chain(&more) {
            answer.extend(self.public.params.switch.write(ring, ciphertext, layers.degree)?);
        }
        Ok(answer)
    }

    /// All samples packed into the first coefficients of one ciphertext, without a table.
    fn packed_body(
        &self,
        keys: &PackingKeys,
        masks: &[Poly<u32, Ntt>],
        bodies: &[u32],
    ) -> Result<Rlwe<u32, Coefficient>> {
        let body = body_poly(&self.public.ring, bodies, 0, masks.len());
        self.public.bodies.pack(&self.public.masks, keys, masks, &body, &mut workspace()).map_err(Error::from)
    }

    /// Projects each sample to its constant coefficient by the homomorphic trace and moves it behind the hint digits of its copy.
    fn add_traced(
        &self,
        keys: &PackingKeys,
        masks: Vec<Poly<u32, Ntt>>,
        bodies: &[u32],
        packed: &mut [Rlwe<u32, Coefficient>],
    ) -> Result<()> {
        let (ring, layers) = (&*self.public.ring, &self.public.layers);
        let trace = &self.public.trace;
        let mut buffers = workspace();
        for (j, mask) in masks.into_iter().enumerate() {
            let body = body_poly(ring, bodies, j, 1);
            let traced = trace.pack(&self.public.masks, keys, &[mask], &body, &mut buffers)?;
            let (copy, digit) = (j / layers.answer_digits, j % layers.answer_digits);
            packed[copy].add_assign(ring, &traced.mul_monomial(ring, layers.hint_digits + digit));
        }
        Ok(())
    }

    /// The plaintext of the second layer's answer to query `k` of a request for those rows of the first: the digits of the row's hint, then
    /// of its word.
    pub(super) fn second_messages(&self, request: &Request, k: usize, rows: Range<usize>) -> Result<Vec<Vec<i16>>> {
        let queries = self.parse(std::slice::from_ref(request))?;
        let query =
            queries.first.get(k).ok_or_else(|| Error::message("query", "fewer queries than were extracted."))?;
        let words = self.first.row_products(rows.clone(), query);
        let hints = self.hint_rows(&rows.collect())?;
        let mut digits = vec![vec![0; self.public.layers.hint_digits + self.public.layers.answer_digits]; words.len()];
        for ((digits, (_, hint)), word) in digits.iter_mut().zip(hints).zip(words) {
            let (masks, body) = digits.split_at_mut(self.public.layers.hint_digits);
            switched_digits(&self.public.params, hint.into_iter(), masks);
            switched_digits(&self.public.params, std::iter::once(word), body);
        }
        Ok(digits)
    }

    /// The first hint in those rows, computed from the database.
    fn hint_rows(&self, rows: &std::collections::BTreeSet<usize>) -> Result<Vec<(usize, Vec<u32>)>> {
        const ROWS: usize = ring::matrix::packed::GROUP_ROWS;
        let groups: std::collections::BTreeSet<usize> = rows.iter().map(|row| row / ROWS).collect();
        let mut out = Vec::with_capacity(rows.len());
        for group in groups {
            let offset = self.public.layers.first.code.offset();
            self.hint.for_groups(self.first.matrix(), offset, group..group + 1, |first_row, words| {
                let fresh = words.chunks_exact(self.public.params.lwe.dimension).enumerate();
                let fresh = fresh.filter(|(i, _)| rows.contains(&(first_row + i)));
                out.extend(fresh.map(|(i, words)| (first_row + i, words.to_vec())));
                Ok(())
            })?;
        }
        Ok(out)
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database and precomputes all that depends on it and on the public seed (phases `encode`, `hint`,
    /// `packing_tables`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layers = Layers::choose(params, database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let public = Public::new(params, &layers, seed, context.kernel)?;
        let clock = &context.clock;
        let first = clock.time("encode", Group::Offline, || LinearDatabase::encode(layers.first, database, context))?;
        let hint = public.first.hint(layers.first.columns);
        let second =
            if layers.selects_whole() { None } else { Some(Second::build(&public, (&first, &hint), context)?) };
        Ok(Self { public, seed, first, hint, second })
    }

    fn tables(&self) -> Vec<TableBytes> {
        let mut held = vec![
            TableBytes::new("database", self.first.stored_bytes()),
            TableBytes::of("first layer's masks", [self.hint.held_bytes()]),
        ];
        held.extend(self.second.iter().flat_map(Second::held));
        held.push(TableBytes::of("packing key masks", [self.public.masks.bytes()]));
        held
    }

    fn publish(&self) -> Messages {
        seed::publish(self.public.params.protocol(), &self.seed)
    }

    /// Answers every query of every request, with one pass over each layer's database and over each packing table.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let queries = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let (kernel, threads) = (context.kernel, context.threads);
        let first =
            clock.time("answer_first_layer", Group::Online, || self.first.product(&queries.first, kernel, threads))?;
        let found = match &self.second {
            Some(second) => self.packed(second, &queries, &first, context)?,
            None => self.selected(&queries, &first, context)?,
        };
        answers(
            self.public.params.protocol(),
            requests,
            self.public.layers.answer_bytes(&self.public.params),
            |k, out| {
                out.copy_from_slice(&found[k]);
                Ok(())
            },
        )
    }

    /// Changes records. Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = &context.clock;
        let rows = clock.time("update_hint", Group::Update, || -> Result<_> {
            let mut rows = std::collections::BTreeSet::new();
            for change in self.first.change(changes)? {
                let (first_row, _, _) = self.public.layers.first.place(change.index);
                let moved = change.deltas.iter().enumerate().filter(|(_, delta)| **delta != 0);
                rows.extend(moved.map(|(i, _)| first_row + i));
            }
            // Hints of records that are selected whole are computed for every answer.
            if self.second.is_some() { self.hint_rows(&rows) } else { Ok(Vec::new()) }
        })?;
        if let Some(second) = &mut self.second {
            clock.time("update_second_layer", Group::Update, || second.update(&self.public, &rows, context.threads))?;
        }
        Ok(Messages::new())
    }
}
