//! FrodoPIR: the other face of SimplePIR.

use lattice::lwe::PublicMatrix;
use ring::Kernel;
use ring::Seed;

use crate::core::Messages;
use crate::core::Protocol;
use crate::core::database::{Database, Record};
use crate::core::protocol::{Client as _, Context, Request};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::{Shape, Workload};
use crate::protocol::simplepir::ahead::Ahead;
use crate::protocol::simplepir::{FrodoPir, Set};
use crate::protocol::tests_support::{
    ALL_SHAPES, committed, conformance, context, left_of, read, refuses_impossible_changes, retrieves_long_records,
    set_text,
};

const MODULI: &str =
    "[[plain_moduli]]\nlog2_samples = 18\nmodulus = 1024\n[[plain_moduli]]\nlog2_samples = 20\nmodulus = 512\n";

/// The published set in dimension 64.
fn sharded(shards: u64) -> Set {
    let text = set_text("frodopir", &format!("shards = {shards}\n"), MODULI);
    read::<FrodoPir>(&text.replace("uniform", "ternary").replace("{ stddev = 6.4 }", "{ ternary = {} }")).unwrap()
}

conformance!(one_shard: FrodoPir, sharded(1), ALL_SHAPES, 3, 4);
conformance!(seven_shards: FrodoPir, sharded(7), ALL_SHAPES, 2, 4);

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<FrodoPir>(&sharded(3));
}

type Parties = (ServerSession<FrodoPir>, ClientSession<FrodoPir>);

fn parties(params: &Set, database: &Database, context: &mut Context) -> Parties {
    let mut server = ServerSession::<FrodoPir>::new(params, database, context).unwrap();
    let mut client = ClientSession::<FrodoPir>::new(params, database.shape(), context).unwrap();
    assert!(client.precompute(1, context).unwrap_err().to_string().contains("hint"));
    client.connect(&mut server, &mut Link::new(FrodoPir::NAME), context).unwrap();
    (server, client)
}

fn words(messages: &Messages, from: usize) -> Vec<u32> {
    messages[0].1.payload()[from..].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

#[test]
fn hint_and_answers_are_those_of_a_slow_reference() {
    // Records of 20 bits are two entries in base 2^10, little-endian and centred; shards of 4, 4 and 2 records.
    let (shape, mut context) = (Shape::new(10, 20).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([3; 16], shape);
    let (server, mut client) = parties(&sharded(3), &database, &mut context);
    let entry = |row: u64, column: u64| {
        let index = row / 2 * 4 + column;
        let bytes = if index < 10 { database.record(index).unwrap() } else { return 0 };
        let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        ((bits >> (10 * (row % 2)) & 1023) as i32 - 512) as u32
    };
    let times = |row: u64, vector: &dyn Fn(u64) -> u32| {
        (0..4).fold(0u32, |sum, column| sum.wrapping_add(entry(row, column).wrapping_mul(vector(column))))
    };
    let published = crate::core::protocol::Server::publish(&server.server);
    let seed = Seed(published[0].1.payload()[..16].try_into().unwrap());
    let public = PublicMatrix::new(seed, 64);
    let hint: Vec<u32> = (0..6)
        .flat_map(|row| (0..64).map(move |j| (row, j)))
        .map(|(row, j)| times(row, &|c| public.row(c as usize)[j]))
        .collect();
    assert_eq!(words(&published, 16), hint);
    client.precompute(1, &mut context).unwrap();
    let request = client.query(&[7], &mut context).unwrap();
    let query = words(&request.messages, 0);
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    assert_eq!(words(&answer, 0), (0..6).map(|row| times(row, &|c| query[c as usize])).collect::<Vec<u32>>());
    assert_eq!(client.extract(&answer, &context).unwrap(), [database.record(7).unwrap()]);
}

/// The authors' code refuses one query in 2^10 here: that whose entry of the record passes the modulus.
#[test]
fn queries_that_wrap_around_are_answered() {
    let (shape, mut context) = (Shape::new(10, 20).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([3; 16], shape);
    let (server, mut client) = parties(&sharded(3), &database, &mut context);
    let mut wrapped = 0;
    for _ in 0..1 << 13 {
        client.precompute(1, &mut context).unwrap();
        let request = client.query(&[7], &mut context).unwrap();
        // Record 7 is in the last column of its shard, whose entry has grown by 2^32 / 2^10.
        wrapped += u32::from(words(&request.messages, 0)[3] < 1 << 22);
        let answer = server.answer(&[request], &mut context).unwrap().remove(0);
        assert_eq!(client.extract(&answer, &context).unwrap(), [database.record(7).unwrap()]);
    }
    assert!(wrapped > 0);
}

#[test]
fn a_query_made_ahead_serves_once_and_follows_updates() {
    let (shape, mut context) = (Shape::new(1000, 100).unwrap(), context(Kernel::best(), 1));
    let mut database = Database::seeded([9; 16], shape);
    let (mut server, mut client) = parties(&sharded(3), &database, &mut context);
    client.precompute(4, &mut context).unwrap();
    let early = client.query(&[17], &mut context).unwrap();
    let change = (17, vec![0; shape.record_bytes()]);
    database.change(17, change.1.clone()).unwrap();
    let messages = server.update(&[change], &mut context).unwrap();
    client.update(&messages, &mut context).unwrap();
    // Asked before the update or after it, a query made ahead finds the record as it is now, and its neighbours.
    let mut ask = |indices: &[u64]| client.query(indices, &mut context).unwrap();
    let requests: [(Request, &[u64]); 3] = [(early, &[17]), (ask(&[17, 999]), &[17, 999]), (ask(&[350]), &[350])];
    for (request, indices) in requests {
        let answer = server.answer(&[request], &mut context).unwrap().remove(0);
        let expected: Vec<Record> = indices.iter().map(|&index| database.record(index).unwrap()).collect();
        assert_eq!(client.extract(&answer, &context).unwrap(), expected);
    }
    let refused = client.query(&[0], &mut context).unwrap_err().to_string();
    assert!(refused.contains("0 are left") && refused.contains("serves once"), "{refused}");
}

/// A client that missed updates fetches the whole hint, which everything that it made ahead follows.
#[test]
fn a_query_made_ahead_follows_a_hint_that_is_fetched_again() {
    let (shape, mut context) = (Shape::new(1000, 100).unwrap(), context(Kernel::best(), 1));
    let mut database = Database::seeded([9; 16], shape);
    let (mut server, mut client) = parties(&sharded(3), &database, &mut context);
    client.precompute(1, &mut context).unwrap();
    for byte in [1, 2] {
        let record = vec![byte; shape.record_bytes()];
        database.change(17, record.clone()).unwrap();
        server.update(&[(17, record)], &mut context).unwrap();
    }
    client.connect(&mut server, &mut Link::new(FrodoPir::NAME), &mut context).unwrap();
    let request = client.query(&[17], &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    assert_eq!(client.extract(&answer, &context).unwrap(), [database.record(17).unwrap()]);
}

/// What was made ahead is of one public matrix: its body and another matrix's H s would give a wrong record.
#[test]
fn queries_made_ahead_for_another_seed_are_given_up() {
    let (shape, mut context) = (Shape::new(1000, 100).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([9; 16], shape);
    let (_, mut client) = parties(&sharded(3), &database, &mut context);
    client.precompute(2, &mut context).unwrap();
    let mut again = ServerSession::<FrodoPir>::new(&sharded(3), &database, &mut context).unwrap();
    client.connect(&mut again, &mut Link::new(FrodoPir::NAME), &mut context).unwrap();
    let refused = client.query(&[17], &mut context).unwrap_err().to_string();
    assert!(refused.contains("0 are left"), "{refused}");
}

#[test]
fn an_update_changes_the_hint_of_the_touched_shard_alone() {
    // Shards of 334 records of ten entries: record 400 is of the second.
    let (shape, mut context) = (Shape::new(1000, 100).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([9; 16], shape);
    let (mut server, mut client) = parties(&sharded(3), &database, &mut context);
    let hint = |server: &ServerSession<FrodoPir>| words(&crate::core::protocol::Server::publish(&server.server), 16);
    let before = hint(&server);
    let messages = server.update(&[(400, vec![0; shape.record_bytes()])], &mut context).unwrap();
    assert_eq!((messages[0].0, messages[0].1.payload().len()), ("hint_delta", 8 + 2 * 10));
    client.client.update(&messages, &mut context).unwrap();
    let changed = before.iter().zip(hint(&server)).map(|(before, after)| *before != after);
    let rows: Vec<usize> = changed.enumerate().filter(|(_, changed)| *changed).map(|(i, _)| i / 64).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| (10..20).contains(row)), "{rows:?}");
}

/// Entries of ten bits differ by 1023 at most.
#[test]
fn a_change_larger_than_an_entry_is_refused() {
    refuses_impossible_changes::<FrodoPir>(&sharded(3), Shape::new(1000, 100).unwrap(), &1024i16.to_le_bytes());
}

#[test]
fn sizes_of_its_paper() {
    // Table 6: 2^16 to 2^20 records of 1 KiB. Blocks of 2048 bits take an entry more at 9 bits: 912, not 911.
    let params = committed::<FrodoPir>("frodopir/published");
    for (log2_records, entries) in [(16, 820), (17, 820), (18, 820), (19, 912), (20, 912)] {
        let workload = Workload::new(Shape::new(1 << log2_records, 8192).unwrap(), 1, 0).unwrap();
        let sizes = FrodoPir::describe(&params, &workload).unwrap();
        assert_eq!(sizes.payload_bytes("hint"), 16 + 4 * entries * 1774);
        assert_eq!(sizes.payload_bytes("query"), 4 << log2_records);
        assert_eq!(sizes.payload_bytes("answer"), 4 * entries);
        // The 271 KB of DEPIR's Table 4: a query, an answer and the hint over 500 queries.
        if log2_records == 16 {
            let whole =
                sizes.payload_bytes("hint") / 500 + sizes.payload_bytes("query") + sizes.payload_bytes("answer");
            assert_eq!((whole + 512) / 1024, 271);
        }
    }
}

#[test]
fn what_is_made_ahead_is_wiped() {
    let [key, body, products] = [0x0102_0304, 0x0506_0708, 0x090a_0b0cu32];
    let ahead = || Ahead { key: vec![key; 64].into(), body: vec![body; 64], products: vec![products; 64].into() };
    for (word, is_secret) in [(key, true), (body, false), (products, true)] {
        let left = left_of(bytemuck::cast([word; 4]), ahead());
        assert_eq!(left == 0, is_secret, "{word:x}: {left}");
    }
}
