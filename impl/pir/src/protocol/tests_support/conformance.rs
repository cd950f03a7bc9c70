//! The conformance of a protocol: the whole of it through the runner at every shape, and what its updates and descriptions promise.

use std::borrow::Cow;

use ring::{Kernel, Ntt, Poly};

use super::secrets::{measures_errors_of_known_messages, secrets_serve_once};
use super::wire::{refuses_answers_to_other_requests, refuses_bad_messages, refuses_other_versions};
use super::{context, in_full, parties, parties_of};
use crate::core::database::{Database, Record};
use crate::core::progress::Silent;
use crate::core::protocol::{Change, Messages, Protocol, Server};
use crate::core::runner::{Options, Run, Session};
use crate::core::session::ServerSession;
use crate::core::workload::{Shape, Workload};

/// The conformance of a protocol, one line in its tests: three tests in a module of that name. `make check` runs the first alone.
macro_rules! conformance {
    ($name:ident: $protocol:ty, $set:expr, $shapes:expr, $queries:expr, $updates:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn conforms_at_two_shapes() {
                $crate::protocol::tests_support::conforms_at_two::<$protocol>(&$set, $shapes, $queries, $updates);
            }

            #[test]
            fn conforms_at_every_shape() {
                $crate::protocol::tests_support::conforms_at_others::<$protocol>(&$set, $shapes, $queries, $updates);
            }

            #[test]
            fn withstands_bad_messages() {
                $crate::protocol::tests_support::withstands::<$protocol>(&$set, $shapes[$shapes.len() / 2]);
            }
        }
    };
}
pub(crate) use conformance;

/// The two shapes that are run with all contents and on both kernel paths: the middle one of a list and the last, where records are long.
fn two_of(shapes: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut two = vec![shapes[shapes.len() / 2], shapes[shapes.len() - 1]];
    two.dedup();
    two
}

pub fn conforms_at_two<S: Protocol>(params: &S::Set, shapes: &[(u64, u64)], queries: u64, updates: u64) {
    let mut setups = all_setups().to_vec();
    if in_full() {
        // Each with the other number of threads too.
        setups.extend(all_setups().map(|(of, kernel, threads, repetitions)| (of, kernel, 3 - threads, repetitions)));
    }
    for shape in two_of(shapes) {
        check_in::<S>(params, shape, queries, updates, &setups);
    }
}

pub fn conforms_at_others<S: Protocol>(params: &S::Set, shapes: &[(u64, u64)], queries: u64, updates: u64) {
    for &(records, bits) in shapes.iter().filter(|shape| !two_of(shapes).contains(shape)) {
        check_everywhere::<S>(params, records, bits, queries, updates);
    }
}

/// Contents of a database, kernel path, threads and repetitions of a run.
type Setup = (&'static str, Kernel, usize, u64);

/// Seeded, all-zero and all-one databases on the fastest path and on the portable one, on one thread and on two. A run of one repetition has no
/// warm-up and is prepared once.
fn all_setups() -> [Setup; 6] {
    let (best, portable, few) = (Kernel::best(), Kernel::Scalar, if in_full() { 2 } else { 1 });
    [
        ("seeded:07", best, 1, 2),
        ("constant:00", best, 2, 2),
        ("constant:ff", best, 1, 2),
        ("seeded:07", portable, 2, 2),
        ("constant:00", portable, 1, few),
        ("constant:ff", portable, 2, few),
    ]
}

/// What a protocol does at a shape, on the fastest path with random contents; in all setups where tests run in full.
pub fn check_everywhere<S: Protocol>(params: &S::Set, records: u64, bits: u64, queries: u64, updates: u64) {
    let setups = all_setups();
    let chosen = if in_full() { &setups[..] } else { &setups[..1] };
    check_in::<S>(params, (records, bits), queries, updates, chosen);
}

/// Runs the whole protocol through the runner in these setups; describes the same bytes as travelled; refuses truncated and corrupted
/// messages.
fn check_in<S: Protocol>(params: &S::Set, (records, bits): (u64, u64), queries: u64, updates: u64, setups: &[Setup]) {
    let shape = Shape::new(records, bits).unwrap();
    let workload = Workload::new(shape, queries, updates.min(records)).unwrap();
    let sizes = S::describe(params, &workload).unwrap();
    for &(source, kernel, threads, repetitions) in setups {
        let database = Database::open(source, shape).unwrap();
        let options = Options { kernel, threads, repetitions, seed: Some([5; 32]), noise_seconds: Some(0.2) };
        let mut run = Box::new(Run::<S>::new(Cow::Borrowed(params), database, workload, &options, &Silent).unwrap());
        run.prepare().unwrap();
        run.warm_up().unwrap();
        run.repetition().unwrap();
        run.repetition().unwrap();
        // Where a client has one key, each exchange needs a new client: one test a protocol does that.
        if kernel == Kernel::best() && source == "seeded:07" && !S::ONE_KEY {
            run.measure_noise().unwrap();
        }
        run.update().unwrap();
        let measured = run.finish();
        assert_eq!(measured.correct.right, measured.correct.compared, "{records} x {bits} {source} {kernel}");
        assert!(measured.correct.compared >= 2 * queries);
        assert_eq!(measured.held, sizes.memory.server, "{records} x {bits}");
        for entry in &measured.transcript {
            let described = sizes.messages.iter().find(|m| m.name == entry.name && m.phase == entry.phase);
            let described = described.unwrap_or_else(|| panic!("{} is not described", entry.name));
            assert_eq!(described.payload_bytes, entry.payload_bytes, "{} of {records} x {bits}", entry.name);
            assert_eq!(described.frame_bytes, entry.frame_bytes);
            assert_eq!(described.queries_served, entry.queries_served);
        }
        assert_eq!(measured.transcript.len(), sizes.messages.len());
    }
    if S::STREAMS {
        answers_alike_when_streamed::<S>(params, shape);
    }
    refuses_bad_messages::<S>(params, shape);
    refuses_other_versions::<S>(params, shape);
    secrets_serve_once::<S>(params, shape);
    measures_errors_of_known_messages::<S>(params, shape);
    refuses_answers_to_other_requests::<S>(params, shape);
}

/// An answer is the same to the bit whether the preprocessed database is kept or made with it, on one thread or several.
fn answers_alike_when_streamed<S: Protocol>(params: &S::Set, shape: Shape) {
    let answer = |threads: usize, streamed: bool| {
        let mut context = context(Kernel::best(), threads);
        context.streamed = streamed;
        let (server, mut client) = parties::<S>(params, shape, &mut context);
        let request = client.ask(&[0, shape.records - 1], &mut context).unwrap();
        let response = server.answer(&[request], &mut context).unwrap().swap_remove(0);
        response.into_iter().map(|(_, frame)| frame.payload().to_vec()).collect::<Vec<_>>()
    };
    let kept = answer(1, false);
    for threads in [1, 3] {
        assert_eq!(answer(threads, true), kept, "{threads} threads, streamed");
    }
}

/// Sizes and counts at the bounds of what is accepted do not wrap around: larger workloads never have smaller ones.
pub fn grows_up_to_the_bounds<S: Protocol>(params: &S::Set) {
    let describe = |records: u64, bits: u64, queries: u64, updates: u64| {
        let workload = Workload::new(Shape::new(records, bits).unwrap(), queries, updates).unwrap();
        S::describe(params, &workload).ok()
    };
    let mut described = 0;
    for (records, bits) in [(1 << 21, 1u64 << 27), (1 << 30, 1 << 18), (1, 1 << 27), (1 << 48, 1), (1 << 38, 1 << 10)] {
        let small = describe(records, bits, 1, 0);
        let large = describe(records, bits, 1 << 12, (1 << 16).min(records));
        let (Some(small), Some(large)) = (small, large) else { continue };
        described += 1;
        assert!(large.memory.peak_bytes > small.memory.peak_bytes);
        assert!(small.memory.peak_bytes > small.memory.server_bytes());
        for (phase, counts) in &small.operations {
            grows(counts, &large.operations[phase], &format!("{phase} of {records} x {bits}"));
        }
    }
    assert!(described > 0);
}

/// Every count of `small` is at most that of `large`, also in steps. Products that several queries share are counted under a name of their own.
fn grows(small: &serde_json::Value, large: &serde_json::Value, place: &str) {
    for (name, count) in small.as_object().unwrap() {
        let larger = large.get(name).or_else(|| large.get(format!("batch_{name}"))).unwrap();
        if count.is_object() {
            grows(count, larger, &format!("{name}, {place}"));
        } else {
            assert!(larger.as_u64().unwrap() >= count.as_u64().unwrap(), "{name}, {place}");
        }
    }
}

/// Records of a database, asked for in one message.
fn retrieve<S: Protocol>(params: &S::Set, database: &Database, indices: &[u64]) -> Vec<Record> {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties_of::<S>(params, database, &mut context);
    let request = client.ask(indices, &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    client.extract(&answer, &context).unwrap()
}

/// Every record of a database, as retrieved.
pub fn retrieves_all<S: Protocol>(params: &S::Set, database: &Database) -> Vec<Record> {
    retrieve::<S>(params, database, &(0..database.shape().records).collect::<Vec<_>>())
}

/// Every record of a database of that many records is found at its index.
pub fn finds_every_record<S: Protocol>(params: &S::Set, records: u64, bits: u64) {
    let database = Database::seeded([9; 16], Shape::new(records, bits).unwrap());
    for (index, record) in (0..).zip(retrieves_all::<S>(params, &database)) {
        assert_eq!(record, database.record(index).unwrap(), "record {index} of {records} of {bits} bits");
    }
}

/// 300 records of 100 KB: the first and the last.
pub fn retrieves_long_records<S: Protocol>(params: &S::Set) {
    let database = Database::seeded([9; 16], Shape::new(300, 819_200).unwrap());
    let indices = [0, 299];
    let records = retrieve::<S>(params, &database, &indices);
    for (index, record) in indices.into_iter().zip(records) {
        assert!(record == database.record(index).unwrap(), "record {index}");
    }
}

/// A server whose records were changed by one update answers to the bit as one made of the changed database: its hints are the same, and
/// the tables made of them.
pub fn updates_like_fresh<S: Protocol>(params: &S::Set, shape: Shape, changed: &[u64]) {
    let mut database = Database::seeded([9; 16], shape);
    // Its public seed is the first number that a server draws.
    let fresh_context = || context(Kernel::best(), 1);
    let mut context = fresh_context();
    let (mut server, mut client) = parties_of::<S>(params, &database, &mut context);
    let other = Database::seeded([3; 16], shape);
    let changes: Vec<Change> = changed.iter().map(|&index| (index, other.record(index).unwrap())).collect();
    for (index, record) in &changes {
        database.change(*index, record.clone()).unwrap();
    }
    assert!(server.update(&changes, &mut context).unwrap().is_empty(), "no message");
    // A selection has changed records in its bit string.
    let fresh = ServerSession::<S>::new(params, &database.selected(shape, Some), &mut fresh_context()).unwrap();
    let indices = [changed[0], changed[changed.len() - 1], shape.records - 1];
    let request = client.ask(&indices, &mut context).unwrap();
    let [updated, fresh] = [&server, &fresh]
        .map(|server| server.answer(std::slice::from_ref(&request), &mut context).unwrap().swap_remove(0));
    let payload = |response: &Messages| response[0].1.payload().to_vec();
    assert!(payload(&updated) == payload(&fresh), "{} changes", changed.len());
    let records = client.extract(&updated, &context).unwrap();
    assert_eq!(records, indices.map(|index| database.record(index).unwrap()));
}

/// A server that was changed twice has the plaintexts of one made of the changed database.
pub fn updates_keep<S: Protocol>(
    params: &S::Set,
    shape: Shape,
    plaintexts: impl Fn(&S::Server) -> Vec<Poly<u32, Ntt>>,
) {
    let (other, mut database) = (Database::seeded([3; 16], shape), Database::seeded([9; 16], shape));
    let mut context = context(Kernel::best(), 1);
    let mut changed = S::Server::new(params, &database, &mut context).unwrap();
    for indices in [vec![0, 1, shape.records / 2, shape.records - 1], vec![1, 7]] {
        let changes: Vec<Change> = indices.into_iter().map(|index| (index, other.record(index).unwrap())).collect();
        changes.iter().for_each(|(index, record)| database.change(*index, record.clone()).unwrap());
        assert!(changed.update(&changes, &mut context).unwrap().is_empty(), "no message");
        // A selection has changed records in its bit string.
        let fresh = S::Server::new(params, &database.selected(shape, Some), &mut context).unwrap();
        assert!(plaintexts(&changed) == plaintexts(&fresh));
    }
}
