mod clear;
mod refused;

use super::super::TRespire;
use super::super::carrier::Carrier as _;
use super::super::set::Set;
use super::super::tests::toy::{self, answers, answers_alike, context, parties, set, try_set};
use super::carrier::Ciphered;
use super::*;
use crate::core::protocol::{Client as _, Context, Protocol as _, Server as _};
use crate::core::session::ClientSession;
use crate::core::workload::{Shape, Workload};
use crate::protocol::tests_support::{conformance, grows_up_to_the_bounds, left_by, left_of};

const CIPHER: &str = r#"
[query]
whole_block = false
[query.key_switching]
modulus_log2 = 18
error = { stddev = 0.5 }
base_log2 = 3
[query.rounds]
base_log2 = 8
dropped = 5
"#;

/// Fewer digits and a smaller key than Pirouette's: a query has fifty times as many conversions.
const FAST: [(&str, &str); 4] = [
    ("dimension = 40", "dimension = 10"),
    ("base_log2 = 8\ndropped = 2", "base_log2 = 11\ndropped = 1"),
    ("base_log2 = 4\ndropped = 2", "base_log2 = 8\ndropped = 1"),
    ("base_log2 = 7\n[rgsw]\nbase_log2 = 4\ndropped = 7", "base_log2 = 14\n[rgsw]\nbase_log2 = 5\ndropped = 6"),
];

fn changed(changes: &[(&str, &str)]) -> Set<Cipher> {
    set(CIPHER, &[&FAST, changes].concat())
}

conformance!(every: TRespire, changed(&[]), &[(1000, 13)], 1, 3);

/// One record of one bit, whose index has no bits; records of several slots and of several polynomials; two queries in a request.
#[test]
fn other_shapes_are_answered() {
    for (records, bits) in [(1, 1), (37, 1030), (3, 2100)] {
        answers(&changed(&[]), Shape::new(records, bits).unwrap(), &[&[0, records - 1]], 1);
    }
}

/// A table of the S-box in every width: one to four bits, and rings that it does not fill.
#[test]
fn rings_of_several_degrees_answer() {
    let shape = Shape::new(300, 100).unwrap();
    for degree in [512, 1024, 4096] {
        let params = changed(&[("degree = 256", &format!("degree = {degree}"))]);
        answers(&params, shape, &[&[299]], 2);
    }
}

/// A whole block masks an index, and all of its keystream is evaluated.
#[test]
fn a_whole_block_is_deciphered() {
    let params = changed(&[("whole_block = false", "whole_block = true")]);
    let shape = Shape::new(300, 100).unwrap();
    answers(&params, shape, &[&[7]], 1);
    let sizes = TRespire::describe(&params, &Workload::new(shape, 1, 0).unwrap()).unwrap();
    assert_eq!((sizes.payload_bytes("query"), sizes.payload_bytes(COUNTER)), (16, 4));
    let mut context = context(1);
    let (server, mut client) = parties(&params, shape, &mut context);
    let request = client.query(&[1], &mut context).unwrap();
    let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
    client.extract(&response, &context).unwrap();
    client.diagnose(&server, &request, &mut context).unwrap();
    let stages = context.noise.summary();
    let input = stages.iter().find(|stage| stage.stage == "round_input").unwrap();
    assert_eq!(input.samples, 9 * 128);
}

/// Threads do not change a bit of an answer.
#[test]
fn answers_do_not_depend_on_threads() {
    answers_alike(&changed(&[]), Shape::new(1500, 250).unwrap(), &[1499], &[2, 3]);
}

#[test]
fn descriptions_grow_with_the_database() {
    grows_up_to_the_bounds::<TRespire>(&changed(&[]));
}

/// Every stage of every round is decrypted and compared with AES in the clear, and no error comes near its threshold.
#[test]
fn every_round_is_that_of_aes() {
    let shape = Shape::new(2000, 200).unwrap();
    let mut context = context(1);
    let (server, mut client) = parties(&changed(&[]), shape, &mut context);
    for index in [0, 1999] {
        let request = client.query(&[index], &mut context).unwrap();
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        let record = client.extract(&response, &context).unwrap();
        assert_eq!(record, [toy::database(shape).record(index).unwrap()]);
        client.log_errors(&server, (&request, &response), &mut context).unwrap();
        client.diagnose(&server, &request, &mut context).unwrap();
    }
    let stages = context.noise.summary();
    for name in ["first_sbox", "sbox", "round_input", "round_row", "round_row_secret", "rgsw_input", "response"] {
        let stage = stages.iter().find(|stage| stage.stage == name).unwrap_or_else(|| panic!("{name}"));
        println!("{stage:?}");
        assert!(stage.margin > 5.0 && stage.max < stage.threshold, "{stage:?}");
    }
    let of = |name: &str| stages.iter().find(|stage| stage.stage == name).unwrap().samples;
    // 8 bits of two queries' bytes: 16 of the first round, seven times 16, four and the two of an 11-bit index.
    assert_eq!([of("first_sbox"), of("sbox"), of("round_input")], [16, 7 * 16 + 4 + 2, 7 * 16 + 4 + 2].map(|n| 16 * n));
}

/// The bits of round keys that a client encrypts, among which two ones follow one another, and its key.
#[test]
fn what_a_client_introduces_is_wiped() {
    let (params, mut context) = (changed(&[]), context(1));
    let (_, client) = parties(&params, Shape::new(50, 100).unwrap(), &mut context);
    let (asker, secrets) = (&client.client.asker, &client.client.secrets);
    let ones = bytemuck::cast([params.rlwe.modulus() / 2; 2]);
    assert_eq!(left_by(ones, || Ciphered::introduce(&params, asker, secrets, &mut context).unwrap()), 0);
    let asker = Ciphered::asker(&params, &mut context).unwrap();
    assert_eq!(left_of(*asker.round_keys().of(0), Box::new(asker)), 0);
}
