//! What preprocessing takes: packing tables, hints of columns, changes of their entries.

use lattice::pack::Method;
use serde_json::{Map, Value, json};

use super::hint::is_incremental;
use super::{Packed, Rlwe};
use crate::core::scheme::{count, ntt, operations};

/// Tables from this size on lie in no second-level cache, and their lines are written where no address is known.
const LARGE_TABLE_BYTES: u64 = 16 << 20;

/// Passes over a mask that one changed entry takes: the factor copied, multiplied, added.
const PASSES: u64 = 3;

/// Operations of so many packing tables of gamma ciphertexts each, made of their ring masks.
pub(crate) fn making_tables(
    rlwe: &Rlwe,
    packed: &Packed,
    (method, gamma): (Method, u64),
    tables: u64,
) -> Map<String, Value> {
    let (primes, degree, length) = (rlwe.primes().len() as u64, rlwe.degree as u64, packed.length() as u64);
    let whole = gamma == degree;
    let switches = gamma - 1;
    // Sums over automorphisms by transforms of slots, or by butterflies of whole polynomials.
    let butterflies = |order: u64| order * u64::from(order.ilog2()) / 2;
    let (transforms, products, slots, filed) = match method {
        Method::Inspiring => (
            if whole { degree } else { 0 },
            if whole { 0 } else { gamma + butterflies(gamma) },
            gamma,
            if gamma * length * rlwe.poly_bytes() < LARGE_TABLE_BYTES { "small_table_slots" } else { "table_slots" },
        ),
        Method::Cdks => {
            let levels = (1..=degree.ilog2()).map(|level| degree >> level);
            let products = levels.map(|order| order + butterflies(order)).sum::<u64>();
            (0, degree + length * products, degree, "tree_slots")
        }
    };
    operations(json!({
        (ntt(degree)): count(&[tables, primes, switches * (length + 1) + transforms + 1]),
        "digits": count(&[tables, switches, length, degree]),
        "residue_multiply_adds": count(&[tables, primes, degree, switches * length + products]),
        (filed): count(&[tables, primes, degree, slots, length + 1]),
    }))
}

/// Operations of the ring masks of so many columns of so many rows, from 16-bit entries.
pub(crate) fn making_hints(rlwe: &Rlwe, rows: u64, columns: u64) -> Map<String, Value> {
    let (primes, degree) = (rlwe.primes().len() as u64, rlwe.degree as u64);
    let blocks = rows.div_ceil(degree);
    operations(json!({
        (ntt(degree)): count(&[primes, columns, blocks]),
        "residue_multiply_adds": count(&[primes, columns, blocks, degree]),
        "widened_entries": count(&[columns, rows]),
        "allocated_bytes": count(&[columns, rlwe.poly_bytes()]),
    }))
}

/// Operations of bringing the ring masks of so many columns up to date: those of `changed` entries of `listed` that are looked at, or of
/// all blocks again where that is less work.
pub(crate) fn updating_hints(
    rlwe: &Rlwe,
    (changed, listed): (u64, u64),
    rows: u64,
    columns: u64,
) -> Map<String, Value> {
    let (primes, degree) = (rlwe.primes().len() as u64, rlwe.degree as u64);
    let blocks = rows.div_ceil(degree);
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if is_incremental(size(listed), size(columns), size(blocks)) {
        operations(json!({ "residue_multiply_adds": count(&[PASSES, primes, changed, degree]) }))
    } else {
        making_hints(rlwe, rows, columns)
    }
}

/// The operations of both.
pub(crate) fn together(mut all: Map<String, Value>, more: Map<String, Value>) -> Map<String, Value> {
    for (name, counted) in more {
        let sum = all.get(&name).and_then(Value::as_u64).unwrap_or(0);
        all.insert(name, sum.saturating_add(counted.as_u64().unwrap_or(0)).into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::params::{ErrorSize, SecretKind};
    use crate::parts::ring_matrix::{Digits, PackingLiteral, RlweLiteral};

    fn set() -> (Rlwe, Packed) {
        let literal = RlweLiteral {
            degree: 2048,
            modulus: "268369921 * 249561089".into(),
            secret: SecretKind::Ternary {},
            error: ErrorSize::Stddev(6.4),
        };
        let rlwe = Rlwe::try_from(&literal).unwrap();
        let packing = PackingLiteral { base_log2: 19, dropped: 0, digits: Digits::Unsigned };
        (rlwe, Packed::try_new(packing, &rlwe).unwrap())
    }

    /// The residues of a table in memory are what `held_table_bytes` says, and a switch transforms its digits and back.
    #[test]
    fn tables_take_their_residues_and_switches() {
        let (rlwe, packed) = set();
        let of = |method, gamma, tables| making_tables(&rlwe, &packed, (method, gamma), tables);
        let whole = of(Method::Inspiring, 2048, 3);
        let residues = packed.table_bytes(&rlwe, Method::Inspiring) / 4;
        assert_eq!(whole["table_slots"], 3 * residues / 3 * 4, "three digits, and the sums that they are made of");
        assert_eq!(whole["ntt_2048_28"], 3 * 2 * (2047 * 4 + 2048 + 1));
        assert_eq!(whole["digits"], 3 * 2047 * 3 * 2048);
        let few = of(Method::Inspiring, 64, 1);
        assert!(few.contains_key("small_table_slots") && !few.contains_key("table_slots"));
        assert_eq!(few["ntt_2048_28"], 2 * (63 * 4 + 1), "smaller groups need no transforms of slots");
        let tree = of(Method::Cdks, 2048, 1);
        assert!(tree.contains_key("tree_slots"));
        assert!(tree["residue_multiply_adds"].as_u64() > whole["residue_multiply_adds"].as_u64().map(|all| all / 3));
        assert!(of(Method::Inspiring, 2048, 0).values().all(|count| *count == 0));
    }

    /// One entry changes one ring mask; where many change, columns are multiplied again.
    #[test]
    fn hints_are_brought_up_to_date_the_shorter_way() {
        let (rlwe, _) = set();
        let few = updating_hints(&rlwe, (5, 5), 4096, 2048);
        assert_eq!(few["residue_multiply_adds"], 3 * 2 * 5 * 2048);
        let many = updating_hints(&rlwe, (81_921, 81_921), 4096, 2048);
        assert_eq!(many, making_hints(&rlwe, 4096, 2048));
        assert_eq!(many["ntt_2048_28"], 2 * 2048 * 2);
        let both = together(few, many);
        assert_eq!(both["residue_multiply_adds"], 3 * 2 * 5 * 2048 + 2 * 2048 * 2 * 2048);
    }
}
