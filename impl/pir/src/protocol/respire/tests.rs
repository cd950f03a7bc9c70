//! Respire at toy sizes through the runner, published byte counts, refusals.

use rand::RngCore;
use ring::Kernel;

use super::describe::describe;
use super::*;
use crate::core::database::Database;
use crate::core::protocol::{Client as _, Request, Server as _};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::Shape;
use crate::parts::folding::BATCH;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, context, grows_up_to_the_bounds, parties_of, read,
};

/// Toy dimensions, right in every respect but security.
fn text() -> String {
    "protocol = \"respire\"\ntitle = \"test\"\nplain_bits = 4\nrow_bits = 3\nmatrix_primes = 2\n\
     [source]\nkind = \"repaired\"\n\
     [rlwe]\ndegree = 256\nmodulus = \"268369921 * 249561089\"\n\
     secret = { kind = \"uniform_range\", low = -7, high = 7 }\nerror = { width = 9.9 }\n\
     [bases]\nselector = 127\nleaf_expansion = 16088\nselector_expansion = 7\nconversion = 16088\nvector = 524288\n\
     [vector]\nlength = 1\nsecret = { kind = \"gaussian\", stddev = 3.95 }\nerror = { width = 9.9 }\n\
     [response]\nslot_degree = 64\ndegree = 64\nmask_modulus = 16760833\nbody_modulus = 256\nbase = 2\n\
     secret = { kind = \"gaussian\", stddev = 101.2 }\nerror = { width = 253.6 }\n"
        .to_owned()
}

fn set(text: &str) -> Set {
    read::<Respire>(text).unwrap()
}

fn published(row_bits: u32) -> String {
    let text = text().replace("degree = 256", "degree = 2048").replace("degree = 64", "degree = 512");
    text.replace("row_bits = 3", &format!("row_bits = {row_bits}"))
}

conformance!(every: Respire, set(&text()), ALL_SHAPES, 1, 3);

/// 32 KB, which are as many slots here as a record may have, an odd number of bits below that, and few bits.
#[test]
fn retrieves_records_up_to_32_kilobytes() {
    let (mut context, params) = (context(Kernel::best(), 1), set(&text()));
    for (records, bits) in [(2, 1 << 18), (3, (1 << 18) - 1), (9, 65_535), (50_001, 3)] {
        let shape = Shape::new(records, bits).unwrap();
        let database = Database::seeded([5; 16], shape);
        let (server, mut client) = parties_of::<Respire>(&params, &database, &mut context);
        for index in [0, records - 1, context.rng.next_u64() % records] {
            let request = client.query(&[index], &mut context).unwrap();
            let response = server.answer(&[request], &mut context).unwrap().remove(0);
            let found = client.extract(&response, &context).unwrap();
            assert_eq!(found, [database.record(index).unwrap()], "{index} of {records} x {bits}");
        }
    }
    let refused = params.layout(Shape::new(2, (1 << 18) + 1).unwrap()).unwrap_err().to_string();
    assert!(refused.contains("at most 1024"), "{refused}");
}

#[test]
fn half_a_database_and_other_digits_serve_as_well() {
    let half = text().replace("matrix_primes = 2", "matrix_primes = 1");
    for (records, bits) in [(1000, 13), (300, 300), (37, 2049)] {
        check_everywhere::<Respire>(&set(&half), records, bits, 2, 2);
    }
    let powers = half.replace("selector = 127", "selector = 128").replace("16088", "16384");
    let powers = powers.replace("selector_expansion = 7", "selector_expansion = 8").replace("base = 2", "base = 4");
    check_everywhere::<Respire>(&set(&powers.replace("row_bits = 3", "row_bits = 6")), 5000, 100, 1, 1);
    check_everywhere::<Respire>(&set(&text().replace("plain_bits = 4", "plain_bits = 3")), 777, 77, 1, 1);
}

#[test]
fn batches_are_packed_into_vectors() {
    // Four slots to a body, up to three bodies to a mask.
    let batch = text()
        .replace("slot_degree = 64\ndegree = 64", "slot_degree = 64\ndegree = 256")
        .replace("length = 1", "length = 3")
        .replace("base = 2", "base = 4");
    for (queries, masks, bodies) in [(5, 1, 2), (13, 2, 4)] {
        let params = set(&batch);
        let shape = Shape::new(500, 200).unwrap();
        let sizes = describe(&params, &Workload::new(shape, queries, 0).unwrap()).unwrap();
        assert_eq!(sizes.payload_bytes("answer"), (masks * 256 * 24 + bodies * 256 * 8) / 8);
        check_everywhere::<Respire>(&params, 500, 200, queries, 1);
    }
    // Records of several slots: three, and six in two polynomials.
    check_everywhere::<Respire>(&set(&batch), 40, 700, 3, 2);
    check_everywhere::<Respire>(&set(&batch), 40, 1500, 3, 2);
}

/// With buckets: `queries, buckets, copies`.
fn bucketed(text: &str, batch: (u32, u32, u32)) -> Set {
    let (queries, buckets, copies) = batch;
    let table = format!("[batch]\nqueries = {queries}\nbuckets = {buckets}\ncopies = {copies}\n[source]");
    set(&text.replace("[source]", &table))
}

#[test]
fn batches_of_distinct_records_go_to_buckets() {
    // Half a batch, a whole one, more than one; records that share slots, records of several slots and polynomials.
    let params = bucketed(&text(), (4, 9, 3));
    for (records, bits, queries) in [(1000, 13, 2), (300, 256, 4), (41, 700, 6), (1, 1, 1), (37, 2049, 3)] {
        check_everywhere::<Respire>(&params, records, bits, queries, 2);
    }
    let packed = text()
        .replace("slot_degree = 64\ndegree = 64", "slot_degree = 64\ndegree = 256")
        .replace("length = 1", "length = 2")
        .replace("base = 2", "base = 4")
        .replace("matrix_primes = 2", "matrix_primes = 1");
    let params = bucketed(&packed, (6, 11, 4));
    check_everywhere::<Respire>(&params, 500, 200, 6, 2);
    let workload = Workload::new(Shape::new(500, 200).unwrap(), 6, 0).unwrap();
    let sizes = describe(&params, &workload).unwrap();
    // Eleven slots: three bodies of four, two bodies to a mask.
    assert_eq!(sizes.payload_bytes("answer"), (2 * 256 * 24 + 3 * 256 * 8) / 8);
}

/// The paper's table of batches of 32 records of 256 bytes: 67.0 KB up, 31.8 KB down. Its buckets by hashing have fewer than 2^16 records, ours
/// have all places of 128 rows: 67.8 KB up.
#[test]
fn published_sizes_of_batches() {
    let batch = published(7)
        .replace("degree = 512\nmask_modulus = 16760833", "degree = 2048\nmask_modulus = 249857")
        .replace("body_modulus = 256", "body_modulus = 128")
        .replace("length = 1", "length = 8");
    let workload = Workload::new(Shape::new(1 << 20, 2048).unwrap(), 32, 0).unwrap();
    let sizes = describe(&bucketed(&batch, (32, 49, 3)), &workload).unwrap();
    assert_eq!(sizes.payload_bytes("query"), 49 * (16 + 7 * (128 + 72)));
    assert_eq!(sizes.payload_bytes("answer"), 32512);
    let layout = |name: &str| sizes.layout[name].as_u64().unwrap();
    assert_eq!((layout("row_bits"), layout("column_bits"), layout("position_bits")), (7, 7, 2));
}

#[test]
fn published_message_sizes() {
    for (log_records, row_bits, query, v) in
        [(18, 8, 2352, (8, 8)), (20, 9, 4200, (9, 9)), (22, 10, 7840, (10, 10)), (25, 11, 15120, (11, 12))]
    {
        let params = set(&published(row_bits));
        let workload = Workload::new(Shape::new(1 << log_records, 2048).unwrap(), 1, 0).unwrap();
        let sizes = Respire::describe(&params, &workload).unwrap();
        let layout = params.layout(workload.shape).unwrap();
        assert_eq!((layout.row_bits, layout.column_bits), v);
        // The authors' figures count no seed.
        assert_eq!(sizes.payload_bytes("query"), 16 + query);
        assert_eq!(sizes.payload_bytes("answer"), 2048);
        // The authors' 3980 KiB count the bodies alone; our switch to vectors has three digits instead of two.
        let bodies = 3980 * 1024 + 14336;
        assert_eq!(sizes.payload_bytes("keys"), bodies + 8 + 24 * 25);
    }
}

#[test]
fn keys_of_another_set_and_malformed_keys_are_refused() {
    let (mut context, shape) = (context(Kernel::best(), 1), Shape::new(100, 50).unwrap());
    let database = Database::seeded([2; 16], shape);
    let params = set(&text());
    let mut server = ServerSession::<Respire>::new(&params, &database, &mut context).unwrap();
    // Other lengths, and other distributions with the same lengths.
    for (from, to) in
        [("selector_expansion = 7", "selector_expansion = 8"), ("low = -7, high = 7", "low = -6, high = 6")]
    {
        let mut other = ClientSession::<Respire>::new(&set(&text().replace(from, to)), shape, &mut context).unwrap();
        let refused = other.connect(&mut server, &mut Link::new(Respire::NAME), &mut context);
        assert!(refused.unwrap_err().to_string().contains("parameter"), "{to}");
        assert!(other.query(&[0], &mut context).unwrap_err().to_string().contains("offline exchange"));
    }
    let mut client = ClientSession::<Respire>::new(&params, shape, &mut context).unwrap();
    let keys = client.client.upload(None, &mut context).unwrap().remove(0).1;
    let mut builder = crate::core::wire::FrameBuilder::new(keys.payload().len());
    builder.payload_mut().copy_from_slice(keys.payload());
    // Residues that are not below their primes.
    builder.payload_mut()[40..72].fill(0xff);
    let refused = server
        .server
        .receive(&vec![("keys", builder.finish(Respire::NAME, "keys"))], &mut context)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("not below its modulus"), "{refused}");
    let short = crate::core::wire::FrameBuilder::new(100).finish(Respire::NAME, "keys");
    assert!(server.server.receive(&vec![("keys", short)], &mut context).unwrap_err().to_string().contains("expected"));
    // A session that does not exist.
    client.connect(&mut server, &mut Link::new(Respire::NAME), &mut context).unwrap();
    let request = client.query(&[99], &mut context).unwrap();
    for session in [0, 2, u64::MAX] {
        let refused = server.answer(&[Request { session, ..request.clone() }], &mut context);
        assert!(refused.unwrap_err().to_string().contains("has sent no keys"));
    }
    assert!(client.query(&[100], &mut context).unwrap_err().to_string().contains("out of range"));
}

/// Malformed queries and answers: of other lengths, residues that are not below their primes, other numbers of queries, other messages,
/// indices past the end. The client and the server serve on.
#[test]
fn bad_queries_and_answers_are_refused() {
    let (mut context, shape) = (context(Kernel::best(), 1), Shape::new(100, 50).unwrap());
    let database = Database::seeded([2; 16], shape);
    for params in [set(&text()), bucketed(&text(), (2, 5, 3))] {
        let (server, mut client) = parties_of::<Respire>(&params, &database, &mut context);
        for index in [100, u64::MAX] {
            let refused = client.query(&[0, index], &mut context).unwrap_err().to_string();
            assert!(refused.contains("out of range"), "{refused}");
        }
        let request = client.query(&[99, 0], &mut context).unwrap();
        let payload = request.messages[0].1.payload();
        let framed = |name: &'static str, payload: &[u8]| {
            let mut builder = crate::core::wire::FrameBuilder::new(payload.len());
            builder.payload_mut().copy_from_slice(payload);
            vec![(name, builder.finish(Respire::NAME, name))]
        };
        let mut large = payload.to_vec();
        large[16..48].fill(0xff);
        for (messages, queries, problem) in [
            (framed("query", &payload[1..]), request.queries, "expected"),
            (framed("query", &[payload, &[0]].concat()), request.queries, "expected"),
            (framed("query", &large), request.queries, "not below its modulus"),
            (request.messages.clone(), request.queries + 1, ""),
            (framed("keys", payload), request.queries, "one message `query`"),
            ([request.messages.clone(), request.messages.clone()].concat(), request.queries, "one message `query`"),
        ] {
            let bad = Request { messages, queries, session: request.session };
            let refused = server.answer(&[bad], &mut context).unwrap_err().to_string();
            assert!(refused.contains("query") && refused.contains(problem), "{refused}");
        }
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        let payload = response[0].1.payload();
        for messages in [framed("answer", &payload[1..]), framed("query", payload), Vec::new()] {
            assert!(client.extract(&messages, &context).unwrap_err().to_string().contains("answer"));
        }
        let records = client.extract(&response, &context).unwrap();
        assert_eq!(records, [99, 0].map(|index| database.record(index).unwrap()));
    }
}

/// Streaming gives the same answers; queries beyond one pass too.
#[test]
fn streamed_databases_and_more_queries_than_a_pass_serves_are_answered() {
    let (mut context, shape) = (context(Kernel::best(), 1), Shape::new(300, 100).unwrap());
    let database = Database::seeded([2; 16], shape);
    let params = set(&text());
    for streamed in [false, true] {
        context.streamed = streamed;
        let (server, mut client) = parties_of::<Respire>(&params, &database, &mut context);
        let indices: Vec<u64> = (0..BATCH as u64 + 3).map(|i| (i * 37) % 300).collect();
        let request = client.query(&indices, &mut context).unwrap();
        let response = server.answer(&[request], &mut context).unwrap().remove(0);
        let records = client.extract(&response, &context).unwrap();
        for (index, record) in indices.iter().zip(records) {
            assert_eq!(record, database.record(*index).unwrap(), "{index}, streamed: {streamed}");
        }
    }
}

/// Errors within an answer are those of the records asked for: an answer to another query has errors beyond every threshold.
#[test]
fn diagnosis_knows_what_was_asked_for() {
    let (mut context, shape) = (context(Kernel::best(), 1), Shape::new(70_000, 8).unwrap());
    let database = Database::seeded([2; 16], shape);
    let (server, mut client) = parties_of::<Respire>(&set(&text()), &database, &mut context);
    let requests = [0, 69_999].map(|index| client.query(&[index], &mut context).unwrap());
    let response = server.answer(&requests[..1], &mut context).unwrap().remove(0);
    client.extract(&response, &context).unwrap();
    for (request, is_asked) in requests.iter().zip([true, false]) {
        context.noise = Default::default();
        client.diagnose(&server, request, &mut context).unwrap();
        for name in ["first_dimension", "folding", "rotation", "projection", "vector"] {
            let stages = context.noise.summary();
            let stage = stages.iter().find(|stage| stage.stage == name).unwrap();
            assert_eq!(stage.max < stage.threshold, is_asked, "{stage:?}");
        }
    }
}

#[test]
fn sizes_grow_up_to_the_bounds() {
    grows_up_to_the_bounds::<Respire>(&set(&published(11)));
}

#[test]
fn values_out_of_range_are_named() {
    for (from, to, key) in [
        ("protocol = \"respire\"", "protocol = \"other\"", "protocol"),
        ("plain_bits = 4", "plain_bits = 13", "plain_bits"),
        ("plain_bits = 4", "plain_bits = 8", "response.body_modulus"),
        ("row_bits = 3", "row_bits = 9", "row_bits"),
        ("matrix_primes = 2", "matrix_primes = 3", "matrix_primes"),
        ("selector = 127", "selector = 1", "bases.selector"),
        ("vector = 524288", "vector = 2097152", "bases.vector"),
        ("length = 1", "length = 0", "vector.length"),
        ("slot_degree = 64", "slot_degree = 48", "response.degree"),
        ("slot_degree = 64", "slot_degree = 128", "response.degree"),
        ("mask_modulus = 16760833", "mask_modulus = 16760834", "response.mask_modulus"),
        ("base = 2", "base = 1", "response"),
        ("low = -7, high = 7", "low = 7, high = 7", "rlwe.secret"),
        ("error = { width = 253.6 }", "error = { width = 2536.0 }", "response.error.width"),
        ("secret = { kind = \"gaussian\", stddev = 3.95 }", "secret = { kind = \"uniform\" }", "vector.secret"),
    ] {
        assert!(text().contains(from), "{from}");
        let error = read::<Respire>(&text().replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`")), "{to}: {error}");
    }
}
