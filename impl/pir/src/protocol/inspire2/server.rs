//! InsPIRe^(2)'s server.

use lattice::Rlwe;
use ring::{Coefficient, ResidueVector, Seed};

use super::Set;
use super::first::First;
use super::layout::Layout;
use super::public::{Keys, Public};
use super::second::{Second, digits_of, mask_digits};
use super::set::NAME;
use super::whole::Whole;
use crate::core::seed::{self, fresh_seed};
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, answers, for_each_query, protocol,
};
use crate::parts::digits::centred_digits;
use crate::parts::ring_matrix::{
    Selector, bodies, body_poly, column_masks, digit_columns, pack, read_packed, residue_vector, workspace,
};

/// Both layers and the public seed.
pub struct Server {
    public: Public,
    seed: Seed,
    first: First,
    second: SecondLayer,
}

/// The second layer: digits of the first layer's ciphertexts, packed once more or selected as whole polynomials.
enum SecondLayer {
    Packed(Second),
    Whole(Whole),
}

/// The queries of all requests, in order.
#[derive(Default)]
struct Queries {
    first: Vec<ResidueVector>,
    second: Vec<ResidueVector>,
    /// Replaces `second` if polynomials are selected whole.
    selectors: Vec<Selector>,
    keys: Vec<Keys>,
}

impl Server {
    fn parse(&self, requests: &[Request]) -> Result<Queries> {
        let (key_bytes, bytes) = (self.public.key_bytes(), self.public.layout.query_bytes(&self.public.params));
        let mut queries = Queries::default();
        let (ring, layout) = (&*self.public.ring, &self.public.layout);
        for_each_query(NAME, requests, &[("keys", key_bytes), ("query", bytes)], |parts| {
            queries.keys.push(self.public.read_keys(parts[0])?);
            let [first, second] = read_packed(ring, [layout.rows, layout.second_entries()], parts[1])?;
            queries.first.push(residue_vector(ring, &first)?);
            if layout.selects_whole {
                queries.selectors.push(Selector::new(ring, &self.public.second, &second));
            } else {
                queries.second.push(residue_vector(ring, &second)?);
            }
            Ok(())
        })?;
        Ok(queries)
    }

    /// The centred entries of a copy of the cell in that row and column.
    pub(super) fn first_entries(&self, row: usize, column: usize, copy: usize) -> impl Iterator<Item = i32> {
        let first = (column * self.public.layout.copies + copy) * self.public.layout.gamma;
        (first..first + self.public.layout.gamma).map(move |column| self.first.matrix.get(row, column))
    }

    /// The plaintext of the second layer's answer to query `k` of a request for a column of cells: for each copy the digits of the first
    /// layer's mask, then of its body.
    pub(super) fn second_messages(
        &self,
        (request, k): (&Request, usize),
        column: usize,
        context: &Context,
    ) -> Result<Vec<Vec<i16>>> {
        let public = &self.public;
        let queries = self.parse(std::slice::from_ref(request))?;
        let (Some(query), Some(keys)) = (queries.first.get(k), queries.keys.get(k)) else {
            return Err(Error::message("query", "fewer queries than were extracted."));
        };
        let query = std::slice::from_ref(query);
        let products = bodies(context.kernel, &self.first.matrix, query, context.threads)?;
        let digits = |group: usize| -> Result<Vec<i16>> {
            let mut digits = mask_digits(public, &self.first, group)?;
            let values = self.first.packed_body(public, (keys, &products[0][..]), group)?;
            let mut own = vec![0; public.layout.body_digits];
            centred_digits(digits_of(&public.params), values.into_iter(), &mut own);
            digits.extend(own);
            Ok(digits)
        };
        let copies = public.layout.copies;
        (column * copies..(column + 1) * copies).map(digits).collect()
    }

    /// For each query, the ciphertexts of the mask digits, copy after copy.
    fn pack_masks(
        &self,
        second: &Second,
        keys: &[Keys],
        products: &[Vec<u32>],
    ) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
        let ring = &*self.public.ring;
        let mut packed: Vec<Vec<_>> = keys.iter().map(|_| Vec::new()).collect();
        let digits = self.public.layout.mask_digits;
        for (copy, tables) in second.tables.all()?.into_iter().enumerate() {
            for (i, table) in tables.iter().enumerate() {
                let gamma = table.packing().gamma();
                let count = gamma.min(digits - i * gamma);
                let columns = (copy * digits + i * gamma, count);
                let outputs = pack(ring, table, keys.iter().map(|keys| keys.of(1)), products, columns)?;
                packed.iter_mut().zip(outputs).for_each(|(packed, output)| packed.push(output));
            }
        }
        Ok(packed)
    }

    /// One query's answer: the mask digits' ciphertexts, then those of the digits of the bodies, packed without tables.
    fn answer_of(
        &self,
        second: &Second,
        queries: &Queries,
        k: usize,
        values: &[u32],
        packed: &[Rlwe<u32, Coefficient>],
        context: &Context,
    ) -> Result<Vec<u8>> {
        let (params, layout, ring) = (&self.public.params, &self.public.layout, &*self.public.ring);
        // The digits of the packed bodies: t rows; digit j of copy x is column x body_digits + j.
        let columns = (layout.copies, layout.gamma, layout.body_digits);
        let digits = digit_columns(values, columns, layout.ring_degree, |values, out| {
            centred_digits(digits_of(params), values.iter().copied(), out);
        })?;
        let products = bodies(context.kernel, &digits, std::slice::from_ref(&queries.second[k]), context.threads)?;
        let masks = column_masks(&digits, ring, &second.query_masks, (0, digits.cols()), 1)?;
        let (packing, key_masks) = self.public.packing(2);
        let mut buffers = workspace();
        let mut answer = Vec::with_capacity(layout.answer_bytes(params));
        let [mask_outputs, _] = layout.outputs(params);
        for copy in 0..layout.copies {
            for ciphertext in &packed[copy * mask_outputs..(copy + 1) * mask_outputs] {
                answer.extend(params.switch.write(ring, ciphertext, params.gammas()[1])?);
            }
            let first = copy * layout.body_digits;
            for (i, masks) in masks[first..first + layout.body_digits].chunks(packing.gamma()).enumerate() {
                let body = body_poly(ring, &products[0], first + i * packing.gamma(), masks.len());
                let ciphertext = packing.pack(key_masks, queries.keys[k].of(2), masks, &body, &mut buffers);
                answer.extend(params.switch.write(ring, &ciphertext?, params.gammas()[2])?);
            }
        }
        Ok(answer)
    }

    /// Each query's answer if digits are packed (phases `answer_second_product`, `answer_mask_packing`, `answer_body_packing`).
    fn packed_answers(
        &self,
        second: &Second,
        queries: &Queries,
        values: &[Vec<u32>],
        context: &Context,
    ) -> Result<Vec<Vec<u8>>> {
        let clock = &context.clock;
        let products = clock.time("answer_second_product", Group::Online, || {
            bodies(context.kernel, &second.matrix, &queries.second, context.threads)
        })?;
        let masks =
            clock.time("answer_mask_packing", Group::Online, || self.pack_masks(second, &queries.keys, &products))?;
        clock.time("answer_body_packing", Group::Online, || {
            let each = masks.into_iter().enumerate();
            each.map(|(k, masks)| self.answer_of(second, queries, k, &values[k], &masks, context)).collect()
        })
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database and makes all tables (phases `encode`, `hint` and `packing_tables` of the first layer, `second_layer` of
    /// the second with its own hints).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = Layout::choose(params, database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let public = Public::new(params, &layout, seed, context.kernel)?;
        let clock = &context.clock;
        let mut first = clock.time("encode", Group::Offline, || First::encode(&public, database, context))?;
        clock.time("hint", Group::Offline, || first.make_hints(&public, context))?;
        first.make_tables(&public, context)?;
        let second = clock.time("second_layer", Group::Offline, || -> Result<_> {
            Ok(if layout.selects_whole {
                SecondLayer::Whole(Whole::build(&public, &first)?)
            } else {
                SecondLayer::Packed(Second::build(&public, &first, context.threads)?)
            })
        })?;
        Ok(Self { public, seed, first, second })
    }

    fn tables(&self) -> Vec<TableBytes> {
        let [digits, factors, hints, tables] = match &self.second {
            SecondLayer::Packed(second) => second.held(),
            SecondLayer::Whole(whole) => [whole.held(), 0, 0, 0],
        };
        let [first_factors, first_hints, first_tables] = self.first.held();
        vec![
            TableBytes::new("database", self.first.matrix.stored_bytes()),
            TableBytes::of("first hints", [first_hints]),
            TableBytes::of("first packing tables", [first_tables]),
            TableBytes::of("mask digits", [digits]),
            TableBytes::of("second hints", [hints]),
            TableBytes::of("second packing tables", [tables]),
            TableBytes::of("masks", [first_factors, factors]),
            TableBytes::of("packing key masks", self.public.packings().map(|(_, masks)| masks.bytes())),
        ]
    }

    fn publish(&self) -> Messages {
        seed::publish(NAME, &self.seed)
    }

    /// Answers every query of every request; databases and tables are read once for all of them.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let public = &self.public;
        let queries = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let (kernel, threads) = (context.kernel, context.threads);
        let products = context
            .time_product("answer_first_product", || bodies(kernel, &self.first.matrix, &queries.first, threads))?;
        let packed = clock.time("answer_first_packing", Group::Online, || {
            self.first.packed_bodies(public, &queries.keys, &products, context)
        })?;
        let found = match &self.second {
            SecondLayer::Packed(second) => self.packed_answers(second, &queries, &packed, context)?,
            SecondLayer::Whole(whole) => clock.time("answer_selection", Group::Online, || {
                let each = queries.selectors.iter().zip(&packed);
                let answer = |(query, values): (&Selector, &Vec<u32>)| whole.answer(public, query, values, threads);
                each.map(answer).collect::<Result<Vec<_>>>()
            })?,
        };
        answers(NAME, requests, public.layout.answer_bytes(&public.params), |k, out| {
            out.copy_from_slice(&found[k]);
            Ok(())
        })
    }

    /// Changes records: adds differences to hints, and rebuilds the tables of the records' columns of cells and those of the touched copies
    /// of the second layer. Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = &context.clock;
        let Self { public, first, second, .. } = self;
        let groups = clock.time("update_first_layer", Group::Update, || -> Result<_> {
            let groups = first.change(public, changes)?;
            if let SecondLayer::Packed(second) = second {
                second.invalidate(groups.iter().map(|group| group % public.layout.copies));
            }
            first.renew_tables(public)?;
            Ok(groups)
        })?;
        clock.time("update_second_layer", Group::Update, || match second {
            SecondLayer::Packed(second) => second.update(public, (first, &groups), context.threads),
            SecondLayer::Whole(whole) => groups.into_iter().try_for_each(|group| whole.set_mask(public, first, group)),
        })?;
        Ok(Messages::new())
    }
}
