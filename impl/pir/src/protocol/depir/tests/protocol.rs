//! The whole protocol.

use ring::Kernel;

use super::super::*;
use crate::core::database::Database;
use crate::core::session::{ClientSession, ServerSession};
use crate::core::{Context, Record, Shape};
use crate::protocol::tests_support::{committed, conformance, context, parties_of, read, refuses, updates_like_fresh};

/// 120 records in a ring of degree 64.
fn text(roots: &str, evaluator: &str) -> String {
    format!(
        "protocol = \"depir\"\ntitle = \"test\"\nvariables = 3\ndegree = 7\n{roots}[source]\nkind = \"own\"\n\
         [ring]\ndegree = 64\nplaintext_modulus = 257\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 1.5 }}\n\
         [primes]\nquery = 7\nanswer = 3\nabove_log2 = 27\n[tables]\nevaluator = \"{evaluator}\"\nmemory_mib = 4\n"
    )
}

fn set(roots: &str, evaluator: &str) -> Set {
    read::<Depir>(&text(roots, evaluator)).unwrap()
}

const SHAPES: &[(u64, u64)] = &[(1, 1), (120, 1), (64, 10), (100, 9), (5, 40)];

conformance!(every: Depir, set("", "derivatives"), SHAPES, 3, 4);
conformance!(every_published: Depir, set("roots = 9\n", "values"), &[(1, 8), (100, 8), (7, 20)], 3, 4);

/// The records of one request, and its bytes.
fn retrieve(
    (server, client): (&ServerSession<Depir>, &mut ClientSession<Depir>),
    indices: &[u64],
    context: &mut Context,
) -> (Vec<Record>, usize) {
    let request = client.ask(indices, context).unwrap();
    let answer = server.answer(std::slice::from_ref(&request), context).unwrap().remove(0);
    (client.extract(&answer, context).unwrap(), request.messages[0].1.payload().len())
}

/// The authors' test set with all records in all slots, and in more slots than a query has.
#[test]
fn every_record_in_every_slot() {
    let set: Set = committed::<Depir>("depir/toy");
    let shape = Shape::new(35, 16).unwrap();
    let (database, mut context) = (Database::seeded([9; 16], shape), context(Kernel::best(), 1));
    let (server, mut client) = parties_of::<Depir>(&set, &database, &mut context);
    let mut bytes = Vec::new();
    for count in [35, 256, 257] {
        for turn in if count == 256 { 0..35 } else { 0..1 } {
            let indices: Vec<u64> = (0..count).map(|slot| (slot + turn) % 35).collect();
            let (records, sent) = retrieve((&server, &mut client), &indices, &mut context);
            assert!(records.iter().zip(&indices).all(|(record, index)| *record == database.record(*index).unwrap()));
            if turn == 0 {
                bytes.push(sent);
            }
        }
    }
    assert_eq!([bytes[0], bytes[1], bytes[2]], [bytes[0], bytes[0], 2 * bytes[0]], "a query serves all its slots");
}

/// Answers are the same to the bit whatever the threads, the kernel and the points in the secret's powers.
#[test]
fn answers_are_alike_on_all_paths() {
    let database = Database::seeded([9; 16], Shape::new(100, 20).unwrap());
    let answer = |set: &Set, kernel: Kernel, threads: usize| {
        let mut context = context(kernel, threads);
        let (server, mut client) = parties_of::<Depir>(set, &database, &mut context);
        let request = client.ask(&[1, 99, 1], &mut context).unwrap();
        server.answer(&[request], &mut context).unwrap()[0][0].1.payload().to_vec()
    };
    let (derivatives, values) = (set("", "derivatives"), set("", "values"));
    let first = answer(&derivatives, Kernel::Scalar, 1);
    for kernel in Kernel::available() {
        for threads in [1, 3] {
            assert!(answer(&derivatives, kernel, threads) == first && answer(&values, kernel, threads) == first);
        }
    }
}

#[test]
fn updates_make_the_same_tables() {
    updates_like_fresh::<Depir>(&set("", "values"), Shape::new(100, 9).unwrap(), &[0, 7, 99]);
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text("roots = 8\n", "values");
    for (from, to, key) in [
        ("variables = 3", "variables = 0", "variables"),
        ("variables = 3", "variables = 7", "variables"),
        ("degree = 7", "degree = 255", "degree"),
        ("roots = 8", "roots = 7", "roots"),
        ("degree = 64", "degree = 96", "ring.degree"),
        ("257", "13", "ring.plaintext_modulus"),
        ("257", "259", "ring.plaintext_modulus"),
        ("\"ternary\"", "\"uniform\"", "ring.secret"),
        ("stddev = 1.5", "stddev = 0.1", "ring.error.stddev"),
        ("query = 7", "query = 0", "primes.query"),
        ("answer = 3", "answer = 8", "primes.answer"),
        ("above_log2 = 27", "above_log2 = 31", "primes.above_log2"),
        ("memory_mib = 4", "memory_mib = 0", "tables.memory_mib"),
        ("memory_mib = 4", "memory_mib = 4\ndisk_mib = 2_000_000_000_000", "tables.disk_mib"),
        ("memory_mib = 4", "memory_mib = 4\nfolder = \"\"", "tables.folder"),
        ("\"depir\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<Depir>(&text, from, to, key);
    }
}

/// What a set cannot serve is refused with the numbers, before anything is made.
#[test]
fn what_does_not_fit_is_refused() {
    let set = set("", "derivatives");
    let (shape, mut context) = (Shape::new(121, 8).unwrap(), context(Kernel::best(), 1));
    let describe = |set: &Set, shape: Shape| {
        Depir::describe(set, &crate::core::Workload::new(shape, 1, 0).unwrap()).map(|_| ()).unwrap_err().to_string()
    };
    let said = describe(&set, shape);
    assert!(said.contains("records = 121") && said.contains("120 coefficients") && said.contains("degree 8"), "{said}");
    // Tables of 5000 columns do not fit 4 MiB.
    let said = describe(&set, Shape::new(5, 40_000).unwrap());
    assert!(said.contains("tables.memory_mib") && said.contains("4 MiB"), "{said}");
    for (name, part) in [("depir/small", "GiB on disk"), ("depir/medium", "below 2^31")] {
        let set: Set = committed::<Depir>(name);
        let database = Database::seeded([9; 16], Shape::new(7315, 16).unwrap());
        let said = ServerSession::<Depir>::new(&set, &database, &mut context).err().unwrap().to_string();
        assert!(said.contains(part), "{said}");
    }
}
