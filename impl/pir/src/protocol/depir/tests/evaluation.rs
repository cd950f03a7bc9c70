//! Tables, and values from them.

use ring::{Kernel, Lookups, Modulus};

use super::super::evaluate::Evaluation;
use super::super::files::Files;
use super::super::monomials::Monomials;
use super::super::plan::Plan;
use super::super::set::Set;
use super::super::tables::TableMaker;
use super::polynomials::at;

/// A set as it is in a file, without its header.
pub fn set(m: usize, degree: usize, evaluator: &str, memory_mib: u64, more: &str) -> Set {
    toml::from_str(&format!(
        "variables = {m}\ndegree = {degree}\n[ring]\ndegree = 64\nplaintext_modulus = 257\n\
         secret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 1.5 }}\n[primes]\nquery = 3\nanswer = 1\nabove_log2 = 24\n\
         [tables]\nevaluator = \"{evaluator}\"\nmemory_mib = {memory_mib}\n{more}"
    ))
    .unwrap()
}

/// Values at random points modulo each ciphertext prime are those of the polynomial, computed term by term: one and two steps of reduction and
/// mixtures, one variable to four, one column and three; tables in memory, mapped, and both.
#[test]
fn values_are_those_of_the_polynomial() {
    for (m, degree, evaluator, memory, more) in [
        (1, 9, "values", 1, ""),
        (2, 7, "values", 1, ""),
        (2, 7, "values", 1, "level1_cap = 0"),
        (2, 7, "values", 1, "level1_cap = 3"),
        (3, 5, "values", 1, ""),
        (4, 3, "values", 4, ""),
        (1, 9, "derivatives", 1, ""),
        (2, 7, "derivatives", 1, ""),
        (3, 5, "derivatives", 1, ""),
        (4, 3, "derivatives", 8, ""),
        (1, 30, "values", 1, "level1_cap = 0\nfolder = \"\""),
        (2, 30, "values", 1, "level1_cap = 0\nfolder = \"\""),
        (3, 11, "values", 1, "folder = \"\""),
        (2, 20, "derivatives", 1, "disk_mib = 16\nfolder = \"\""),
        (3, 9, "derivatives", 1, "disk_mib = 64\nfolder = \"\""),
    ] {
        let set = set(m, degree, evaluator, memory, more);
        let on_disk = set.tables.folder.is_some();
        for (columns, kernel, threads) in [(1, Kernel::best(), 1), (3, Kernel::Scalar, 3)] {
            let (plan, lookups) = (Plan::new(&set, columns as u64).unwrap(), Lookups::new(kernel).unwrap());
            assert_eq!(plan.disk.is_empty(), !on_disk, "{plan:?}");
            let all = Monomials::new(m, degree);
            let coefficient = |column: usize, i: usize| ((column * 37 + i * i * 101 + 5) % 257) as i64 - 128;
            let polynomials: Vec<Vec<i64>> =
                (0..columns).map(|column| (0..all.count()).map(|i| coefficient(column, i)).collect()).collect();
            let maker = TableMaker::new(&set, polynomials.clone(), lookups);
            let folder = tempfile::tempdir().unwrap();
            let files = Files::new(folder.path(), &set, &polynomials);
            let table = |layout| match on_disk {
                false => maker.make(layout, threads).unwrap(),
                true => files.take(layout, |pass| maker.stream(layout, threads, pass)).unwrap(),
            };
            let tables = plan.layouts(&set, columns).unwrap().iter().map(table).collect();
            let evaluation = Evaluation::new(&plan, tables, (m, columns), set.tables.evaluator, lookups).unwrap();
            let points = 50;
            let (mut space, mut out) = (evaluation.workspace(points), vec![0; points * columns]);
            for (number, q) in set.ciphertext_primes().into_iter().enumerate() {
                let modulus = Modulus::new(q as u32).unwrap();
                let coordinate = |j: usize, i: usize| match i {
                    0 => 0,
                    1 => (q / 2) as u32,
                    2 => (q / 2 + 1) as u32,
                    _ => (q * (i * i + 7 * j) as u64 / 3001 % q) as u32,
                };
                let mut inputs = Vec::new();
                for j in 0..m {
                    inputs.extend((0..points).map(|i| modulus.add(coordinate(j, i), (q / 2) as u32)));
                }
                evaluation.evaluate(number, &inputs, &mut space, &mut out);
                for (column, polynomial) in polynomials.iter().enumerate() {
                    let polynomial: Vec<u32> = polynomial.iter().map(|c| modulus.from_signed(*c)).collect();
                    for i in 0..points {
                        let point: Vec<u32> = (0..m).map(|j| coordinate(j, i)).collect();
                        let expected = at(&all, &modulus, &polynomial, &point);
                        assert_eq!(
                            out[column * points + i],
                            expected,
                            "{m} {evaluator} {more}, column {column} point {i}"
                        );
                    }
                }
            }
        }
    }
}
