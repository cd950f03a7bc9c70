//! DEPIR's server.

use bfv::AlgebraicCiphertext;
use lattice::SeededRlwe;
use lattice::wire::{Reader, Writer};
use ring::{Lookups, Ntt, Poly};

use super::Set;
use super::engine::{Engine, answer_bytes, query_bytes};
use super::evaluate::{Evaluation, batch};
use super::files::{Files, check_room};
use super::interpolate::interpolate;
use super::plan::Plan;
use super::points::Points;
use super::set::NAME;
use super::table::Layout;
use super::tables::TableMaker;
use super::wire;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, Turns, answers, for_each_query,
    protocol,
};

/// Tables of the polynomials whose values the records are.
pub struct Server {
    engine: Engine,
    pub(super) database: Database,
    plan: Plan,
    layouts: Vec<Layout>,
    points: Vec<Points>,
    evaluation: Option<Evaluation>,
    lookups: Lookups,
}

/// The ciphertexts of a query, one for each variable.
type Query = Vec<AlgebraicCiphertext<u32>>;

impl Server {
    /// Makes the tables of the database (phase `phase`), but for those that are in files. Those of before are dropped first, and after a change
    /// their files too: both together would not fit.
    fn build(&mut self, (phase, group): (&str, Group), context: &Context) -> Result<()> {
        self.evaluation = None;
        let (engine, plan, clock) = (&self.engine, &self.plan, &context.clock);
        context.progress.begin(phase, self.layouts.len() as u64);
        let evaluation = clock.time(phase, group, || {
            let polynomials = polynomials(engine, &self.database)?;
            let folder = engine.set.tables.folder.as_deref();
            let files = folder.map(|folder| Files::new(folder, &engine.set, &polynomials));
            if let Some(files) = files.as_ref().filter(|_| group == Group::Update) {
                files.remove(&self.layouts)?;
            }
            let maker = TableMaker::new(&engine.set, polynomials, self.lookups);
            let table = |layout: &Layout| {
                let table = match &files {
                    None => maker.make(layout, context.threads),
                    Some(files) => files.take(layout, |pass| maker.stream(layout, context.threads, pass)),
                };
                context.progress.advance(1);
                table
            };
            let tables = self.layouts.iter().map(table).collect::<Result<Vec<_>>>()?;
            let sizes = (engine.set.variables, engine.columns);
            Evaluation::new(plan, tables, sizes, engine.set.tables.evaluator, self.lookups)
        })?;
        context.progress.end();
        self.evaluation = Some(evaluation);
        Ok(())
    }

    fn evaluation(&self) -> Result<&Evaluation> {
        self.evaluation
            .as_ref()
            .ok_or_else(|| Error::Workload("an update was not finished; make the server again.".into()))
    }

    fn parse(&self, requests: &[Request]) -> Result<Vec<Query>> {
        let (Engine { set, scheme, .. }, mut queries) = (&self.engine, Vec::new());
        for_each_query(NAME, requests, &[("query", query_bytes(set) as usize)], |parts| {
            let mut input = Reader::of(parts[0]);
            let seed = input.seed();
            let ciphertext = |stream| {
                let b = wire::read(&mut input, scheme.ring(), "query")?;
                Ok(scheme.expand(&SeededRlwe { seed, stream, b }))
            };
            queries.push((0..set.variables as u64).map(ciphertext).collect::<Result<_>>()?);
            Ok(())
        })?;
        Ok(queries)
    }

    /// Residues modulo one prime of all parts of the values of a query, part by part, column by column.
    fn values_modulo(&self, prime: usize, query: &Query) -> Result<Vec<u32>> {
        let (Engine { set, columns, .. }, points) = (&self.engine, &self.points[prime]);
        let (n, evaluation) = (self.engine.slots(), self.evaluation()?);
        let batch = batch(&self.plan, n);
        let (mut space, mut inputs) = (evaluation.workspace(batch), vec![0; set.variables * batch]);
        let mut values = vec![vec![0; batch * columns]; points.count()];
        let mut out = vec![0; columns * (set.degree + 1) * n];
        for first in (0..n).step_by(batch) {
            for (point, values) in values.iter_mut().enumerate() {
                for (input, ciphertext) in inputs.chunks_exact_mut(batch).zip(query) {
                    let [constant, linear] = [0, 1].map(|i| &ciphertext.parts[i].limb(prime)[first..first + batch]);
                    points.evaluate(point, constant, linear, input);
                }
                evaluation.evaluate(prime, &inputs, &mut space, values);
            }
            for (number, part) in out.chunks_exact_mut(n).enumerate() {
                let (column, j) = (number / (set.degree + 1), number % (set.degree + 1));
                points.coefficient(j, &values, column * batch, &mut part[first..first + batch]);
            }
        }
        Ok(out)
    }

    /// The values of a query, a ciphertext of degree D for each column.
    fn values(&self, query: &Query, threads: usize) -> Result<Vec<AlgebraicCiphertext<u32>>> {
        let (Engine { set, scheme, columns, .. }, n) = (&self.engine, self.engine.slots());
        let residues = side_by_side(0..self.points.len(), threads, |prime| self.values_modulo(prime, query))?;
        let part = |number: usize| {
            let mut part: Poly<u32, Ntt> = scheme.ring().zero();
            for (limb, residues) in residues.iter().enumerate() {
                part.limb_mut(limb).copy_from_slice(&residues[number * n..(number + 1) * n]);
            }
            part
        };
        let parts = set.degree + 1;
        let column = |column| AlgebraicCiphertext { parts: (column * parts..(column + 1) * parts).map(part).collect() };
        Ok((0..*columns).map(column).collect())
    }

    /// The values of some requests, before they are switched.
    pub(super) fn values_of(&self, requests: &[Request]) -> Result<Vec<Vec<AlgebraicCiphertext<u32>>>> {
        self.parse(requests)?.iter().map(|query| self.values(query, 1)).collect()
    }
}

/// The polynomials of a database, with centred coefficients.
pub(super) fn polynomials(engine: &Engine, database: &Database) -> Result<Vec<Vec<i64>>> {
    let mut values = vec![vec![0; engine.monomials.count()]; engine.columns];
    for index in 0..engine.shape.records {
        let entries = engine.entries(&database.record(index)?);
        values.iter_mut().zip(entries).for_each(|(values, entry)| values[index as usize] = entry);
    }
    let polynomial = |mut values: Vec<u32>| {
        interpolate(&engine.monomials, &engine.plain, &mut values);
        values.into_iter().map(|c| engine.plain.centred(c)).collect()
    };
    Ok(values.into_iter().map(polynomial).collect())
}

impl protocol::Server for Server {
    type Set = Set;

    /// Interpolates, and makes tables (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, database.shape(), context.kernel)?;
        let plan = Plan::new(set, engine.columns as u64)?;
        let layouts = plan.layouts(set, engine.columns)?;
        if let Some(folder) = &set.tables.folder {
            check_room(folder, &layouts)?;
        }
        let points = set.ciphertext_primes().into_iter().map(|prime| Points::new(set, prime));
        let (points, lookups) = (points.collect::<Result<_>>()?, Lookups::new(context.kernel)?);
        let mut server = Self { engine, database: database.clone(), plan, layouts, points, evaluation: None, lookups };
        server.build(("encode", Group::Offline), context)?;
        Ok(server)
    }

    fn tables(&self) -> Vec<TableBytes> {
        let tables = self.evaluation.iter().flat_map(Evaluation::tables).filter(|table| !table.layout.mapped);
        vec![TableBytes::of("tables", tables.map(|table| table.bytes().len()))]
    }

    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let (clock, threads) = (&context.clock, context.threads);
        let queries = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let Engine { set, scheme, short, shape, .. } = &self.engine;
        let mut steps = Turns::new(clock);
        let messages = answers(NAME, requests, answer_bytes(set, *shape) as usize, |number, out| {
            let values = steps.time("answer_values", || self.values(&queries[number], threads))?;
            steps.time("answer_switch", || {
                let write = |ciphertext: &AlgebraicCiphertext<u32>| {
                    let mut written = Writer::default();
                    for part in scheme.switch(ciphertext, short)?.0.parts {
                        wire::write(&mut written, short.ring(), &part);
                    }
                    Ok(written.finish())
                };
                let written = side_by_side(values.iter(), threads, write)?;
                let bytes = out.len() / written.len();
                out.chunks_exact_mut(bytes).zip(written).for_each(|(out, written)| out.copy_from_slice(&written));
                Ok(())
            })
        })?;
        steps.finish(Group::Online);
        Ok(messages)
    }

    /// Changes records and makes all tables again (phase `update_tables`): each coefficient depends on each record. Clients hold nothing of the
    /// database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        changes.iter().try_for_each(|(index, record)| self.database.change(*index, record.clone()))?;
        self.build(("update_tables", Group::Update), context)?;
        Ok(Messages::new())
    }
}
