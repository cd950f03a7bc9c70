mod full_size;
mod refused;
pub mod toy;

use std::borrow::Cow;

use ring::Kernel;

use super::bodies::Keyed as _;
use super::form::Selecting;
use super::keys::SEED;
use super::*;
use crate::core::database::Database;
use crate::core::progress::Silent;
use crate::core::protocol::{Client as _, Request, Server as _};
use crate::core::runner::{Options, Run, Session};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::Shape;
use crate::protocol::tests_support::{conformance, grows_up_to_the_bounds};
use toy::{answers, answers_alike, context, parties, set, try_set};

const INDEX: &str = r#"
[query]
modulus_log2 = 44
body_bits = 32
error = { stddev = 3.2 }
digit_bits = 3
[query.key_switching]
modulus_log2 = 18
error = { stddev = 0.5 }
base_log2 = 3
"#;

const BITS: &str = "[query]\nbody_bits = 7\nerror = { stddev = 0.5 }\n";

// Several records a slot.
conformance!(every: Pirouette, set(INDEX, &[]), &[(1000, 13)], 2, 3);

/// One record of one bit, records of several slots and of several polynomials.
#[test]
fn pirouette_answers_on_other_shapes() {
    for (records, bits) in [(1, 1), (37, 1030), (3, 2100)] {
        answers::<Index>(&set(INDEX, &[]), Shape::new(records, bits).unwrap(), &[&[0], &[records - 1]], 1);
    }
}

conformance!(every_of_h: PirouetteH, set(BITS, &[]), &[(1, 1), (700, 7), (5, 2100)], 2, 3);

/// Records of 32 KB, with and without a last bit, and on two threads.
#[test]
fn large_records_are_split_and_put_together() {
    answers::<Index>(&set(INDEX, &[]), Shape::new(2, 1 << 18).unwrap(), &[&[0], &[1]], 1);
    answers::<Bits>(&set(BITS, &[]), Shape::new(3, (1 << 18) - 1).unwrap(), &[&[0], &[2]], 1);
    answers::<Index>(&set(INDEX, &[]), Shape::new(3, (1 << 18) - 1).unwrap(), &[&[1], &[2]], 2);
}

/// Every form of the parts: one key bit a step, ternary small keys, both primes in the first dimension, digits of one bit.
#[test]
fn every_form_of_the_parts_answers() {
    let shape = Shape::new(300, 100).unwrap();
    let forms: [&[(&str, &str)]; 4] = [
        &[("bits_per_step = 2", "bits_per_step = 1")],
        &[("kind = \"binary\"", "kind = \"ternary\"")],
        &[("moduli = 1", "moduli = 2"), ("degree = 64", "degree = 256")],
        &[("digit_bits = 3", "digit_bits = 1")],
    ];
    for changes in forms {
        answers::<Index>(&set(INDEX, changes), shape, &[&[0], &[299], &[123]], 1);
    }
}

/// Streamed answers, in blocks of four columns, with two threads.
#[test]
fn streamed_databases_answer() {
    let shape = Shape::new(2000, 250).unwrap();
    let (params, mut context) = (set::<Bits>(BITS, &[]), context(2));
    context.streamed = true;
    let database = Database::seeded([3; 16], shape);
    let mut server = ServerSession::<PirouetteH>::new(&params, &database, &mut context).unwrap();
    server.server.matrix.block_columns = 4;
    assert!(params.layout(shape).unwrap().matrix_columns() > 8);
    let mut client = ClientSession::<PirouetteH>::new(&params, shape, &mut context).unwrap();
    client.connect(&mut server, &mut Link::new(PirouetteH::NAME), &mut context).unwrap();
    for index in [0, 1999, 777] {
        let request = client.query(&[index], &mut context).unwrap();
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        let record = client.extract(&response, &context).unwrap();
        assert_eq!(record, [database.record(index).unwrap()]);
        client.diagnose(&server, &request, &mut context).unwrap();
    }
    assert!(server.update(&[(0, database.record(1).unwrap())], &mut context).is_err());
}

/// Neither threads nor blocks change a bit of an answer, of several digits, columns, parts and queries.
#[test]
fn answers_do_not_depend_on_threads_or_blocks() {
    let params = set::<Index>(INDEX, &[]);
    assert!(params.layout(Shape::new(400, 2100).unwrap()).unwrap().parts > 1);
    for (records, bits) in [(1500, 250), (400, 2100)] {
        answers_alike(&params, Shape::new(records, bits).unwrap(), &[records - 1, 7], &[1, 2, 3, 4]);
    }
    answers_alike(&set::<Bits>(BITS, &[]), Shape::new(1500, 250).unwrap(), &[1499, 7], &[1, 2, 3, 4]);
}

/// A seed sent once: a query is its bodies alone, and no mask serves twice.
#[test]
fn one_seed_serves_a_client() {
    let shape = Shape::new(300, 100).unwrap();
    let params = set::<Index>(INDEX, &[("digit_bits = 3", "digit_bits = 3\nseed = \"per_client\"")]);
    answers(&params, shape, &[&[5], &[5], &[299]], 1);
    let mut context = context(1);
    let (_, mut client) = parties(&params, shape, &mut context);
    let sizes = Pirouette::describe(&params, &Workload::new(shape, 3, 0).unwrap()).unwrap();
    let request = client.query(&[1, 2, 3], &mut context).unwrap();
    assert_eq!(request.messages[0].1.payload().len() as u64, sizes.payload_bytes("query"));
    assert_eq!(sizes.payload_bytes("query"), 12);
    assert_eq!(sizes.payload_bytes("query_seed"), 32);
    let encryption = params.encryption().unwrap();
    let masks: Vec<_> = (0..4).map(|number| encryption.masks(&[7; 32], number, 1, 256)).collect();
    assert!((1..4).all(|i| masks[..i].iter().all(|mask| *mask != masks[i])));
    // The server takes the seed that travels, and no other.
    let mut server = ServerSession::<Pirouette>::new(&params, &Database::seeded([3; 16], shape), &mut context).unwrap();
    let mut keys = client.client.upload(None, &mut context).unwrap();
    assert_eq!(keys.pop().map(|(name, _)| name), Some(SEED));
    assert!(server.server.receive(&keys, &mut context).unwrap_err().to_string().contains("query_seed"));
    for (bytes, fits) in [(31, false), (32, true), (33, false)] {
        let seed = FrameBuilder::new(bytes).finish(Pirouette::NAME, SEED);
        let with: Vec<_> = keys.iter().cloned().chain([(SEED, seed)]).collect();
        assert_eq!(server.server.receive(&with, &mut context).is_ok(), fits, "{bytes}");
    }
    // The next query goes on where the last ended.
    assert_eq!(client.query(&[4], &mut context).unwrap().messages[0].1.sequence(), 3);
    let most = vec![0; 1 << 12];
    let spent = (0..16).map(|_| client.query(&most, &mut context)).find_map(std::result::Result::err);
    assert!(spent.unwrap().to_string().contains("no mask is used twice"));
}

/// Masks under one key must never come again: every request has a seed of its own.
#[test]
fn seeds_of_queries_differ() {
    let mut context = context(1);
    let (_, mut client) = parties(&set::<Index>(INDEX, &[]), Shape::new(50, 100).unwrap(), &mut context);
    let mut seed = || client.query(&[1], &mut context).unwrap().messages[0].1.payload()[..32].to_vec();
    let (one, other) = (seed(), seed());
    assert_ne!(one, other);
}

/// A chosen seed is one under which the rounding errs by little; it suits one query, so a request has one, and a seed for all none.
#[test]
fn seeds_are_chosen_for_their_rounding() {
    let shape = Shape::new(300, 100).unwrap();
    let params = set::<Index>(INDEX, &[("body_bits = 32", "body_bits = 20\nchosen_bits = 4")]);
    answers(&params, shape, &[&[0], &[5], &[299]], 1);
    let mut context = context(1);
    let (_, mut client) = parties(&params, shape, &mut context);
    let encryption = params.encryption().unwrap();
    for index in 0..20 {
        let request = client.query(&[index], &mut context).unwrap();
        let payload = request.messages[0].1.payload();
        assert_eq!(payload.len(), 32 + 3);
        let seed: query::QuerySeed = payload[..32].try_into().unwrap();
        let masks = encryption.masks(&seed, 0, 1, params.rlwe.degree);
        let sent = encryption.read(masks, &mut lattice::wire::Reader::of(&payload[32..])).remove(0);
        let (item, bits) = (client.client.layout.place(index).item, set::index_bits(&client.client.layout));
        let message = params.messages(item, bits).unwrap()[0];
        let error = query::centred_error(Index::key(&client.client.secrets), &sent, message).unwrap();
        // Half a unit of 2^24 over 2^4, and the error before the rounding.
        assert!(error.abs() <= f64::from(1 << 19) + 8.0 * 3.2, "{error}");
    }
    let refused = client.query(&[1, 2], &mut context).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("chosen_bits"), "{refused}");
    let workload = Workload::new(shape, 2, 0).unwrap();
    assert!(Pirouette::describe(&params, &workload).unwrap_err().to_string().contains("one by one"));
    for changes in [
        ("body_bits = 32", "body_bits = 32\nchosen_bits = 12"),
        ("body_bits = 32", "body_bits = 32\nchosen_bits = 2\nseed = \"per_client\""),
    ] {
        let problem = try_set::<Index>(INDEX, &[changes]).map(|_| ()).unwrap_err().to_string();
        assert!(problem.contains("query.chosen_bits"), "{problem}");
    }
}

#[test]
fn queries_are_as_small_as_the_paper_s() {
    let workload = Workload::new(Shape::new(4000, 200).unwrap(), 1, 0).unwrap();
    let bytes = |sizes: Sizes| sizes.payload_bytes("query");
    assert_eq!(bytes(Pirouette::describe(&set(INDEX, &[]), &workload).unwrap()), 36);
    // 12 bits of index, 7 bits a body.
    assert_eq!(bytes(PirouetteH::describe(&set(BITS, &[]), &workload).unwrap()), 32 + 11);
}

/// The client's own records, encrypted: shapes of one polynomial, of several columns, of several parts; nothing of them is in the clear.
#[test]
fn encrypted_databases_answer() {
    let changes = [("moduli = 1", "moduli = 1\nencrypted = true")];
    for (records, bits) in [(1, 1), (300, 100), (5, 1100)] {
        let shape = Shape::new(records, bits).unwrap();
        answers::<Index>(&set(INDEX, &changes), shape, &[&[0], &[records - 1], &[records / 2]], 1);
        answers::<Bits>(&set(BITS, &changes), shape, &[&[0], &[records - 1]], 2);
    }
    let shape = Shape::new(300, 100).unwrap();
    let params = set::<Bits>(BITS, &changes);
    let sizes = PirouetteH::describe(&params, &Workload::new(shape, 1, 0).unwrap()).unwrap();
    let mut context = context(1);
    let database = Database::seeded([3; 16], shape);
    let mut server = ServerSession::<PirouetteH>::new(&params, &database, &mut context).unwrap();
    let mut client = ClientSession::<PirouetteH>::new(&params, shape, &mut context).unwrap();
    let mut link = Link::new(PirouetteH::NAME);
    client.connect(&mut server, &mut link, &mut context).unwrap();
    for entry in link.entries() {
        assert_eq!(sizes.payload_bytes(&entry.name), entry.payload_bytes, "{}", entry.name);
    }
    assert!(sizes.payload_bytes(encrypted::DATABASE) > 0);
    let request = client.query(&[299], &mut context).unwrap();
    let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
    client.extract(&response, &context).unwrap();
    client.diagnose(&server, &request, &mut context).unwrap();
    let folded = context.noise.summary().into_iter().find(|stage| stage.stage == "folded").unwrap();
    assert!(folded.samples == 256 && folded.margin > 8.0, "{folded:?}");
    assert!(server.update(&[(0, database.record(1).unwrap())], &mut context).is_err());
    context.streamed = true;
    assert!(ServerSession::<PirouetteH>::new(&params, &database, &mut context).is_err());
}

/// Noise is measured under several keys, where a client has but one, and a server holds those of one client at a time.
#[test]
fn noise_is_measured_under_several_keys() {
    let shape = Shape::new(2000, 200).unwrap();
    let (params, workload) = (set::<Index>(INDEX, &[]), Workload::new(shape, 1, 1).unwrap());
    let options =
        Options { kernel: Kernel::best(), threads: 1, repetitions: 1, seed: Some([5; 32]), noise_seconds: Some(1.0) };
    let database = Database::seeded([7; 16], shape);
    let mut run = Box::new(Run::<Pirouette>::new(Cow::Owned(params), database, workload, &options, &Silent).unwrap());
    run.prepare().unwrap();
    run.repetition().unwrap();
    run.measure_noise().unwrap();
    run.update().unwrap();
    let measured = run.finish();
    assert_eq!(measured.correct.right, measured.correct.compared);
    for stage in measured.noise {
        assert!(stage.keys > 1 && stage.max < stage.threshold, "{stage:?}");
    }
}

/// Diagnosis sees every stage, and errors far below what would be decided wrongly.
#[test]
fn every_decision_has_its_margin() {
    let shape = Shape::new(2000, 200).unwrap();
    let mut context = context(1);
    let (server, mut client) = parties(&set::<Index>(INDEX, &[]), shape, &mut context);
    for index in [0, 1999, 1234, 567] {
        let request = client.query(&[index], &mut context).unwrap();
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        client.extract(&response, &context).unwrap();
        client.log_errors(&server, (&request, &response), &mut context).unwrap();
        client.diagnose(&server, &request, &mut context).unwrap();
    }
    let stages = context.noise.summary();
    let decided = ["query", "floor_msb", "floor_rest", "digit", "bit", "rgsw_input", "selector", "response"];
    let seen = ["rotation", "row", "row_secret", "first_product", "folded", "rotated"];
    for name in decided.iter().chain(&seen) {
        let stage = stages.iter().find(|stage| stage.stage == *name).unwrap_or_else(|| panic!("{name}"));
        assert!(stage.margin > 5.0 && stage.max < stage.threshold, "{stage:?}");
        assert_eq!(stage.keys, 1);
    }
    assert_eq!(stages.len(), decided.len() + seen.len());
}

#[test]
fn descriptions_grow_with_the_database() {
    grows_up_to_the_bounds::<PirouetteH>(&set(BITS, &[]));
}
