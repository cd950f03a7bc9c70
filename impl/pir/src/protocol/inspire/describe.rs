//! InsPIRe's layout, bytes, memory, operations and instances.

use lattice::pack::Method;
use lattice::{SplitKey, SplitRlwe};
use ring::matrix::column::{product_work, ring_products_work};
use ring::{BlockDiagonal, Kind, ResidueVector, Work};

use super::Interpolate;
use super::layout::Layout;
use super::set::Set;
use crate::core::plan::{Plan, count, numbers};
use crate::core::tables::tables_of_block;
use crate::core::{LweInstance, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::ring_matrix::{
    GadgetNumbers, Packing, RingNumbers, Rlwe, masks_update_work, seed_memory, seed_messages,
};

/// The packing of the outputs.
const PACKING: Method = Method::Inspiring;

numbers! {
    /// InsPIRe's layout.
    pub struct Numbers(params: &Set, layout: &Layout, tables: [u64; 2]) {
        rows: usize = layout.rows,
        points: usize = layout.points,
        variables: u32 = layout.variables,
        groups: usize = layout.groups,
        polynomials_per_record: usize = layout.planes,
        records_per_polynomial: u64 = layout.records_per_item,
        polynomials: u64 = layout.items * layout.planes as u64,
        used_coefficients: usize = layout.used,
        columns: usize = layout.columns(),
        packed_outputs: usize = layout.outputs(),
        answer_ciphertexts: usize = layout.ciphertexts(),
        stored_bits: u64 = 8 * layout.stored_bytes(),
        plain_modulus: u32 = params.folding.plain_modulus,
        interpolation: Interpolate = params.folding.interpolation,
        whitened: bool = true,
        point_sent: bool = layout.sends_point(params),
        body_coefficients: usize = layout.kept(params),
        rgsw_gadget: GadgetNumbers = params.evaluation.gadget().describe(params.rlwe.modulus()),
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&params.rlwe, PACKING, params.packing, params.switch, tables),
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = Layout::choose(params, workload.shape)?;
    let tables = [layout.outputs() as u64, touched(&layout, workload)];
    let mut sizes = Sizes::of(&Numbers::new(params, &layout, tables));
    messages(params, &layout, workload, &mut sizes);
    sizes.memory = memory(params, &layout, workload);
    sizes.operations = operations_of(params, &layout, workload);
    sizes.instances = instances(params, &layout);
    Ok(sizes)
}

/// Bytes of `polynomials` polynomials on the wire.
fn wire_bytes(rlwe: &Rlwe, polynomials: u64) -> u64 {
    count(&[polynomials, rlwe.degree as u64, rlwe.residue_bits().into()]).div_ceil(8)
}

/// Sizes of the packing.
pub(super) fn packing(params: &Set) -> Packing<'_> {
    Packing::new(&params.rlwe, PACKING, params.packing)
}

/// Polynomials of the encrypted point, zero if none is sent.
fn point_polynomials(params: &Set, layout: &Layout) -> u64 {
    if layout.sends_point(params) {
        2 * params.evaluation.gadget().length(params.rlwe.modulus()) as u64 * u64::from(layout.variables)
    } else {
        0
    }
}

fn messages(params: &Set, layout: &Layout, workload: &Workload, sizes: &mut Sizes) {
    let asked = [
        ("keys", packing(params).key_bytes(), "2 l_ks d log2(q) k / 8"),
        ("query", layout.query_bytes(params) as u64, "rows log2(q) k / 8"),
        ("point", wire_bytes(&params.rlwe, point_polynomials(params, layout)), "2 l_gsw v d log2(q) k / 8"),
    ];
    let answer = count(&[layout.ciphertext_bytes(params) as u64, layout.ciphertexts() as u64]);
    seed_messages(sizes, workload.queries, &asked, (answer, "(d log2(q_a) + kept log2(q_b)) c k / 8"));
}

/// Number of packing tables that an update rebuilds, which are those of its records' groups.
fn touched(layout: &Layout, workload: &Workload) -> u64 {
    let group = |index: u64| [layout.place(layout.find(index).0).group];
    count(&[workload.touched(layout.groups as u64, group), (layout.planes * layout.points) as u64])
}

fn memory(params: &Set, layout: &Layout, workload: &Workload) -> MemoryMap {
    let (poly, degree) = (params.rlwe.poly_bytes(), params.rlwe.degree as u64);
    let (outputs, queries) = (layout.outputs() as u64, workload.queries);
    let (packing, key_masks) = (packing(params), packing(params).key_mask_bytes());
    let (tables, held) = if workload.streamed {
        ("packing tables of a block", tables_of_block(packing.table_bytes()).min(layout.points) as u64)
    } else {
        ("packing tables", outputs)
    };
    let server = vec![
        TableBytes::new("database", layout.stored_bytes()),
        TableBytes::new("hint", count(&[outputs, degree, poly])),
        TableBytes::new(tables, count(&[held, packing.held_table_bytes()])),
        TableBytes::new("packing key masks", key_masks),
    ];
    let factors = count(&[layout.blocks() as u64, poly]);
    let width = (layout.points * layout.degree) as u64;
    let encoding = 4 * width + 2 * (ring::matrix::column::LINE * layout.columns()) as u64;
    // While a batch is answered: messages as sent, as received and in parts, queries in both forms, products, packed outputs.
    let point = wire_bytes(&params.rlwe, point_polynomials(params, layout));
    let each = 3 * (packing.key_bytes() + layout.query_bytes(params) as u64 + point)
        + ResidueVector::stored_bytes_for(layout.rows, 2)
        + 16 * layout.rows as u64
        + 24 * layout.columns() as u64
        + (packing.key_polynomials() + 2 * point_polynomials(params, layout) + 4 * layout.points as u64) * poly
        + 2 * (layout.ciphertext_bytes(params) * layout.ciphertexts()) as u64;
    let making = if workload.streamed { packing.making_bytes() } else { 0 };
    let online = count(&[each, queries]).saturating_add(making);
    let update = count(&[workload.updates, width, layout.planes as u64, 4]);
    let working = encoding.max(packing.making_bytes().saturating_add(factors)).max(online).max(update);
    seed_memory(server, key_masks, working)
}

/// Work by phase and step.
fn operations_of(params: &Set, layout: &Layout, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let Workload { queries, updates, .. } = *workload;
    let (ring, degree, primes) = (params.rlwe.shape(), layout.degree as u64, params.rlwe.primes().len() as u64);
    let (rows, columns, outputs) = (layout.rows as u64, layout.columns() as u64, layout.outputs() as u64);
    let (points, planes, stored) = (layout.points as u64, layout.planes as u64, layout.stored_bytes());
    let key_polynomials = packing(params).key_polynomials() + point_polynomials(params, layout);
    let touched = touched(layout, workload);
    let tables = |outputs: u64| PACKING.preprocess_work(params.packing.shape(&params.rlwe), layout.degree) * outputs;
    let mut plan = Plan::default();
    let entries = count(&[rows, columns]);
    // The records and their whitening streams.
    let encoded =
        [(Kind::PrgBytes, count(&[2, stored])), (Kind::PlaneEntries, entries), (Kind::ColumnEntries, entries)];
    plan.phase("encode", interpolation_work(params, layout, count(&[rows, outputs / points])) + encoded.into());
    plan.phase("hint", ring_products_work(ring, rows, columns));
    plan.kept("packing_tables", workload.streamed, tables(outputs));
    let (blocks, sent) = (layout.blocks() as u64, layout.blocks() as u64 + key_polynomials);
    let drawn = [
        (Kind::GaussianSamples, count(&[sent, degree, queries])),
        (Kind::PrgBytes, count(&[sent, params.rlwe.poly_bytes(), queries])),
    ];
    plan.phase("query", ring.transforms(count(&[blocks + 2 * key_polynomials, queries])) + drawn.into());
    let words = rows + key_polynomials * degree;
    plan.step("answer", "parse", Work::of(Kind::WordsRead, &[queries, primes, words]));
    plan.step("answer", "product", product_work(rows, columns, stored, (queries, primes)));
    let packing = BlockDiagonal::multiply_work(count(&[outputs, packing(params).table_bytes()]), queries);
    plan.step("answer", "packing", packing + ring.transforms(count(&[queries, outputs])));
    let ciphertexts = count(&[queries, layout.ciphertexts() as u64]);
    let evaluated = params.evaluation.gadget().shape(&params.rlwe).external_product_work();
    plan.step("answer", "evaluation", evaluated * count(&[ciphertexts, points - 1]));
    plan.phase("answer", SplitRlwe::switch_work(layout.degree) * ciphertexts);
    plan.phase("extract", SplitKey::work(layout.degree, params.switch.mask_modulus) * count(&[planes, queries]));
    // Butterflies only rotate the changed coefficients, of which every polynomial has one for each word of the record; divisions spread the
    // change over all coefficients.
    let planes_changed = count(&[updates.min(layout.items), planes]);
    let record_words = layout.code.coefficients(workload.shape.record_bits.div_ceil(planes) as usize) as u64;
    let words = match params.folding.interpolation {
        Interpolate::CooleyTukey => record_words.min(degree),
        Interpolate::Lagrange => degree,
    };
    let changed = count(&[updates, planes, points, words]);
    let listed = count(&[planes_changed, points, degree]);
    // The change is evaluated at the point, then interpolated.
    let evaluated = [(Kind::ListedEntries, listed), (Kind::Butterflies, listed)];
    plan.phase("update_encode", interpolation_work(params, layout, planes_changed) + evaluated.into());
    let columns_touched = count(&[touched, degree]);
    plan.phase("update_hint", masks_update_work(ring, (changed, listed), rows, columns_touched));
    plan.phase("update_packing_tables", tables(touched));
    plan.operations()
}

/// The work of interpolating `polynomials` polynomials in all variables: every line of points in every variable takes a step for each
/// pair of its points. A division takes a pass over an element as a butterfly does, but one residue after the other.
fn interpolation_work(params: &Set, layout: &Layout, polynomials: u64) -> Work {
    let (points, side) = (layout.points as u64, layout.side as u64);
    let lines = u64::from(layout.variables) * points / side;
    let (kind, steps) = match params.folding.interpolation {
        Interpolate::CooleyTukey => (Kind::Butterflies, count(&[lines, side / 2, side.ilog2().into()])),
        Interpolate::Lagrange => (Kind::Divisions, count(&[lines, side, side - 1]) / 2),
    };
    Work::of(kind, &[polynomials, steps, layout.degree as u64])
}

/// Every sample under one secret: those of the query, of the packing keys and of the encrypted point.
fn instances(params: &Set, layout: &Layout) -> Vec<LweInstance> {
    let rows = layout.rows as u64;
    let samples =
        rows + (packing(params).key_polynomials() + point_polynomials(params, layout)) * params.rlwe.degree as u64;
    vec![params.rlwe.instance("query", samples, "the record asked for")]
}
