//! InsPIRe's server.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use lattice::pack::{PackingKeys, PackingTable};
use lattice::{Rgsw, Rlwe};
use ring::{Coefficient, Ntt, Poly, ResidueVector, Seed};

use super::describe::packing;
use super::encoded::Encoded;
use super::layout::Layout;
use super::public::Public;
use super::set::{NAME, QueryCoefficients, Set};
use crate::core::seed::{self, fresh_seed};
use crate::core::tables::{Tables, make_tables};
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, Turns, answers, for_each_query,
    protocol,
};
use crate::parts::ring_matrix::{
    bodies, column_masks, pack, packing_table, read_coefficients, read_keys, read_packed, residue_vector, update_masks,
    workspace,
};

/// The interpolated database, its hint and its packing tables.
pub struct Server {
    params: Set,
    seed: Seed,
    public: Public,
    pub(super) encoded: Encoded,
    /// For each output, for each coefficient, the ring mask of its sample: the sum over the rows i of entry X^-i a(X).
    hint: Vec<Vec<Poly<u32, Ntt>>>,
    tables: Tables<PackingTable>,
}

/// One query in the server's form.
struct Query {
    keys: PackingKeys,
    /// The encrypted point of each variable; empty if there is one point only.
    point: Vec<Rgsw<u32>>,
}

impl Server {
    fn table(&self, output: usize) -> Result<PackingTable> {
        packing_table(&self.public.packing, &self.public.masks, &self.hint[output])
    }

    fn parse(&self, requests: &[Request]) -> Result<(Vec<Query>, Vec<ResidueVector>)> {
        let (layout, public) = (&self.encoded.layout, &self.public);
        let query_bytes = layout.query_bytes(&self.params);
        let variables = if layout.sends_point(&self.params) { layout.variables as usize } else { 0 };
        let point_bytes = variables * public.point_bytes();
        let expected = [("keys", public.packing.key_bytes()), ("query", query_bytes), ("point", point_bytes)];
        let (mut queries, mut vectors) = (Vec::new(), Vec::new());
        for_each_query(NAME, requests, &expected, |parts| {
            let points = parts.get(2).copied().unwrap_or_default();
            let point = points.chunks_exact(public.point_bytes()).enumerate();
            let point = point.map(|(variable, bodies)| Ok(public.point(variable, bodies)?.expand(&public.ring)));
            queries.push(Query { keys: read_keys(&public.packing, parts[0])?, point: point.collect::<Result<_>>()? });
            vectors.push(match self.params.query_coefficients {
                QueryCoefficients::Bytes => {
                    read_coefficients(&public.ring, self.params.rlwe.coefficient_bytes(), parts[1])?
                }
                QueryCoefficients::Bits => {
                    let [residues] = read_packed(&public.ring, [layout.rows], parts[1])?;
                    residue_vector(&public.ring, &residues)?
                }
            });
            Ok(())
        })?;
        Ok((queries, vectors))
    }

    /// For each coefficient of Z and each query the packed output, from `first_output` on.
    fn pack(
        &self,
        queries: &[Query],
        products: &[Vec<u32>],
        first_output: usize,
        context: &Context,
    ) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
        let pack = |output: usize, table: &PackingTable| {
            let (ring, degree) = (&*self.public.ring, self.params.rlwe.degree);
            pack(ring, table, queries.iter().map(|query| &query.keys), products, (output * degree, degree))
        };
        let outputs = first_output..first_output + self.encoded.layout.points;
        let mut packed = Vec::with_capacity(outputs.len());
        self.tables.blocks(
            outputs,
            context,
            |output| self.table(output),
            |block, table| {
                packed.extend(side_by_side(block, context.threads, |output| pack(output, table(output)?))?);
                Ok(())
            },
        )?;
        Ok(packed)
    }

    /// Horner's rule at each query's point (Algorithm 9), in one variable after the other (appendix G.2), from coefficients to values.
    /// Coefficients of the first variable's powers are adjacent, the lowest first.
    fn evaluate(
        &self,
        queries: &[Query],
        packed: Vec<Vec<Rlwe<u32, Coefficient>>>,
        threads: usize,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let side = self.encoded.layout.side;
        let value = |k: usize| -> Result<Rlwe<u32, Coefficient>> {
            let mut values: Vec<_> = packed.iter().map(|packed| packed[k].clone()).collect();
            for point in &queries[k].point {
                values = values.chunks(side).map(|line| self.horner(line, point)).collect::<Result<_>>()?;
            }
            values.pop().ok_or_else(|| Error::message("point", "it is missing."))
        };
        side_by_side(0..queries.len(), threads, value)
    }

    /// The value at an encrypted point of the polynomial with those coefficients.
    fn horner(&self, coefficients: &[Rlwe<u32, Coefficient>], point: &Rgsw<u32>) -> Result<Rlwe<u32, Coefficient>> {
        let ring = &*self.public.ring;
        let mut coefficients = coefficients.iter().rev();
        let mut value = coefficients.next().map_or_else(|| Rlwe::zero(ring), Clone::clone);
        let (mut product, mut buffers) = (Rlwe::zero(ring), workspace());
        for coefficient in coefficients {
            let product_of = self.public.evaluation.external_product(&value, point, &mut buffers, &mut product);
            product_of?;
            std::mem::swap(&mut value, &mut product);
            value.add_assign(ring, coefficient);
        }
        Ok(value)
    }

    /// Switched ciphertexts in messages.
    fn respond(&self, requests: &[Request], evaluated: &[Vec<Rlwe<u32, Coefficient>>]) -> Result<Vec<Messages>> {
        let (layout, switch) = (&self.encoded.layout, self.params.switch);
        let each = layout.ciphertext_bytes(&self.params);
        answers(NAME, requests, each * evaluated.len(), |k, out| {
            out.chunks_exact_mut(each).zip(evaluated).try_for_each(|(out, ciphertext)| {
                out.copy_from_slice(&switch.write(&self.public.ring, &ciphertext[k], layout.kept(&self.params))?);
                Ok(())
            })
        })
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database and computes everything that does not need a client (phases `encode`, `hint`, `packing_tables`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = Layout::choose(params, database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let public = Public::new(params, &layout, seed, context.kernel)?;
        let clock = &context.clock;
        let encoded = clock
            .time("encode", Group::Offline, || Encoded::encode(params, layout, &public.whitening, database, context))?;
        let hint: Vec<_> = clock.time("hint", Group::Offline, || {
            let query = public.queries.masks();
            let masks = |columns| column_masks(&encoded.matrix, &public.ring, &query, columns, context.threads);
            (0..layout.outputs()).map(|output| masks(layout.columns_of(output))).collect::<Result<_>>()
        })?;
        let tables = if context.streamed {
            Tables::streamed(packing(params).table_bytes())
        } else {
            let table = |output: usize| packing_table(&public.packing, &public.masks, &hint[output]);
            make_tables(layout.outputs(), context, table)?.into()
        };
        Ok(Self { params: params.clone(), seed, public, encoded, hint, tables })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.encoded.matrix.stored_bytes()),
            TableBytes::of("hint", self.hint.iter().flatten().map(Poly::bytes)),
            TableBytes::of("packing tables", self.tables.kept().map(PackingTable::held_bytes)),
            TableBytes::of("packing key masks", [self.public.masks.bytes()]),
        ]
    }

    fn publish(&self) -> Messages {
        seed::publish(NAME, &self.seed)
    }

    /// Answers every query of every request in one pass over the database and one over each packing table.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let (queries, vectors) = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let products = context.time_product("answer_product", || {
            bodies(context.kernel, &self.encoded.matrix, &vectors, context.threads)
        })?;
        let layout = self.encoded.layout;
        let mut evaluated: Vec<Vec<Rlwe<u32, Coefficient>>> = Vec::with_capacity(layout.ciphertexts());
        let mut steps = Turns::new(clock);
        for ciphertext in 0..layout.ciphertexts() {
            let first_output = ciphertext * layout.points;
            let packed = steps.time("answer_packing", || self.pack(&queries, &products, first_output, context))?;
            evaluated.push(steps.time("answer_evaluation", || self.evaluate(&queries, packed, context.threads))?);
        }
        steps.finish(Group::Online);
        clock.time("answer_switch", Group::Online, || self.respond(requests, &evaluated))
    }

    /// Changes records: updates encoding and hint by the differences and rebuilds the touched packing tables (phases `update_encode`,
    /// `update_hint`, `update_packing_tables`). Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = &context.clock;
        let kernel = context.kernel;
        let differences = clock.time("update_encode", Group::Update, || self.encoded.change(changes, kernel))?;
        let layout = self.encoded.layout;
        let Layout { points, degree, .. } = layout;
        let touched: BTreeSet<usize> =
            differences.iter().map(|d| d.first_column / degree).flat_map(|output| output..output + points).collect();
        let Self { public, encoded, hint, tables, .. } = self;
        tables.invalidate(touched.iter().copied());
        clock.time("update_hint", Group::Update, || {
            let (ring, queries, masks) = (&*public.ring, &public.queries, OnceCell::new());
            let again = |output| {
                let masks = masks.get_or_init(|| queries.masks());
                column_masks(&encoded.matrix, ring, masks, layout.columns_of(output), context.threads)
            };
            update_masks(hint, (ring, queries), &differences, &touched, again)
        })?;
        clock.time("update_packing_tables", Group::Update, || {
            tables.renew(|output| packing_table(&public.packing, &public.masks, &hint[output]))
        })?;
        Ok(Messages::new())
    }
}
