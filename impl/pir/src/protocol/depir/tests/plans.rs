//! Plans of the published sets, against Table 3 and an independent count by the authors' rules.

use super::super::plan::Plan;
use super::super::{Depir, Set};
use super::evaluation::set;
use crate::core::{Protocol, Shape, Workload};
use crate::protocol::tests_support::committed;

fn close(found: f64, expected: f64, digits: i32) {
    let difference = (found / expected - 1.0).abs();
    assert!(difference < 10f64.powi(-digits), "{found} for {expected}");
}

/// Set; tables in memory, on disk, level-1 primes, with the largest of each; GiB in memory and on disk; billions of reads in memory and on
/// disk; first and last prime, log2 Q, log2 Q'.
type Row = (&'static str, [(usize, u64); 3], [f64; 2], [f64; 2], [u64; 2], [f64; 2]);

#[test]
fn published_plans_are_those_of_the_authors_rules() {
    let rows: [Row; 4] = [
        (
            "tiny",
            [(42, 191), (0, 0), (32, 379)],
            [9.056, 0.0],
            [8.677, 0.0],
            [3_735_553, 195_493_889],
            [518.48, 217.90],
        ),
        (
            "small",
            [(53, 251), (32, 443), (30, 641)],
            [35.02, 1.016 * 1024.0],
            [31.00, 0.943],
            [20_316_161, 554_631_169],
            [804.43, 401.91],
        ),
        (
            "medium",
            [(33, 139), (62, 503), (146, 1531)],
            [252.1, 873_492.0],
            [1212.2, 2076.3],
            [36_175_873, 3_726_114_817],
            [1817.37, 878.33],
        ),
        (
            "large",
            [(18, 67), (78, 509), (145, 1531)],
            [216.5, 411_744_747.0],
            [658.7, 2595.8],
            [36_175_873, 3_726_114_817],
            [1817.37, 878.33],
        ),
    ];
    for (name, levels, gib, reads, ends, logs) in rows {
        let set: Set = committed::<Depir>(&format!("depir/{name}"));
        let plan = Plan::new(&set, 1).unwrap();
        let of = |primes: &[u64]| (primes.len(), primes.first().copied().unwrap_or_default());
        let level1: Vec<u64> = plan.level1.iter().map(|uses| uses.modulus).collect();
        assert_eq!([of(&plan.memory), of(&plan.disk), of(&level1)], levels, "{name}");
        let points = (set.ring.degree * set.points()) as f64;
        let found = plan.bytes().into_iter().zip(plan.reads());
        for ((bytes, found), (gib, reads)) in found.zip(gib.into_iter().zip(reads)) {
            if gib > 0.0 {
                close(bytes as f64 / 2f64.powi(30), gib, 3);
                close(found as f64 * points / 1e9, reads, 3);
            } else {
                assert_eq!(bytes + found, 0);
            }
        }
        let primes = set.ciphertext_primes();
        assert_eq!([primes[primes.len() - 1], primes[0]], ends);
        let log2 = |primes: &[u64]| primes.iter().map(|p| (*p as f64).log2()).sum::<f64>();
        close(log2(&primes), logs[0], 4);
        close(log2(&primes[..set.primes.answer]), logs[1], 4);
        let workload = Workload::new(Shape::new(7315, 16).unwrap(), 1, 0).unwrap();
        let sizes = Depir::describe(&set, &workload).unwrap();
        if name == "tiny" {
            let mib = |message| sizes.payload_bytes(message) as f64 / 2f64.powi(20);
            // The paper has 10 and 19 MiB, in words of 32 bits.
            assert!(mib("query") < 8.2 && mib("answer") < 16.2, "{} {}", mib("query"), mib("answer"));
        }
    }
}

/// Moduli of what a value takes have a product that is large enough and no larger than needed, on every level.
#[test]
fn plans_suffice() {
    for (m, degree, evaluator, memory, more) in [
        (4, 18, "values", 1 << 13, ""),
        (4, 18, "values", 1 << 16, "level1_cap = 5"),
        (4, 18, "derivatives", 1 << 13, ""),
        (4, 18, "derivatives", 1 << 14, ""),
        (4, 7, "derivatives", 64, ""),
        (3, 11, "derivatives", 4, ""),
    ] {
        let set = set(m, degree, evaluator, memory, more);
        let plan = Plan::new(&set, 1).unwrap();
        let tables: Vec<u64> = plan.memory.iter().chain(&plan.disk).copied().collect();
        assert!(plan.bytes()[0] <= memory << 20);
        let is_top = |q: u64| q >= 1 << 16;
        for uses in plan.level1.iter().chain(&plan.top) {
            let used = uses.memory + uses.disk;
            let moduli = tables[..used].iter().map(|p| plan.modulus(*p));
            let moduli: Vec<u64> = moduli.chain(plan.level1[..uses.level1].iter().map(|uses| uses.modulus)).collect();
            let mut distinct = moduli.clone();
            distinct.dedup();
            assert_eq!(distinct, moduli);
            assert!(uses.level1 == 0 || is_top(uses.modulus));
            let log2 = |moduli: &[u64]| moduli.iter().map(|p| (*p as f64).log2()).sum::<f64>();
            // Of an integer: 2 N |f| (q / 2)^D.
            let bound = (super::super::monomials::monomials(m, degree) as f64 * 128.0).log2()
                + degree as f64 * (uses.modulus as f64 / 2.0).log2();
            assert!(log2(&moduli) > bound && log2(&moduli[..moduli.len() - 1]) < bound + 4.0, "{evaluator} {uses:?}");
        }
    }
}
