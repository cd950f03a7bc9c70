mod clear;
mod refused;

use ring::Kernel;

use super::super::TRespire;
use super::super::set::Set;
use super::*;
use crate::core::database::Database;
use crate::core::protocol::{Client as _, Context, Protocol as _, Server as _};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::{Shape, Workload};
use crate::protocol::tests_support::{self, conformance, grows_up_to_the_bounds, read};

/// A set of dimension 256: real noise, no security.
const TOY: &str = r#"
protocol = "trespire"
title = "test"
[source]
kind = "toy"
[query.key_switching]
modulus_log2 = 18
error = { stddev = 0.5 }
base_log2 = 3
[query.rounds]
base_log2 = 8
dropped = 5
[rlwe]
degree = 256
modulus = "268369921 * 249561089"
secret = { kind = "ternary" }
error = { stddev = 3.2 }
[lwe]
dimension = 10
secret = { kind = "binary" }
[blind_rotation]
base_log2 = 11
dropped = 1
bits_per_step = 2
[automorphism]
base_log2 = 8
dropped = 1
[squaring]
base_log2 = 14
[rgsw]
base_log2 = 5
dropped = 6
[database]
plain_modulus = 16
first_bits = 3
moduli = 1
[response]
degree = 64
mask_modulus = 16760833
body_modulus = 256
secret = { kind = "gaussian", stddev = 110.0 }
error = { stddev = 110.0 }
base_log2 = 1
"#;

fn toy() -> Set<Cipher> {
    read::<TRespire>(TOY).unwrap()
}

fn context(threads: usize) -> Context<'static> {
    tests_support::context(Kernel::best(), threads)
}

fn parties(
    params: &Set<Cipher>,
    shape: Shape,
    context: &mut Context,
) -> (ServerSession<TRespire>, ClientSession<TRespire>) {
    let database = Database::seeded([3; 16], shape);
    let mut server = ServerSession::<TRespire>::new(params, &database, context).unwrap();
    let mut client = ClientSession::<TRespire>::new(params, shape, context).unwrap();
    client.connect(&mut server, &mut Link::new(TRespire::NAME), context).unwrap();
    (server, client)
}

conformance!(every: TRespire, toy(), &[(1000, 13)], 1, 3);

fn answers(params: &Set<Cipher>, shape: Shape, indices: &[u64], threads: usize) {
    let mut context = context(threads);
    let (server, mut client) = parties(params, shape, &mut context);
    let database = Database::seeded([3; 16], shape);
    let request = client.query(indices, &mut context).unwrap();
    let response = server.answer(&[request], &mut context).unwrap().remove(0);
    let records = client.extract(&response, &context).unwrap();
    assert_eq!(records, indices.iter().map(|&index| database.record(index).unwrap()).collect::<Vec<_>>());
}

/// One record of one bit, whose index has no bits; records of several slots and of several polynomials; two queries in a request.
#[test]
fn other_shapes_are_answered() {
    for (records, bits) in [(1, 1), (37, 1030), (3, 2100)] {
        answers(&toy(), Shape::new(records, bits).unwrap(), &[0, records - 1], 1);
    }
}

/// A table of the S-box in every width: one to four bits, and rings that it does not fill.
#[test]
fn rings_of_several_degrees_answer() {
    let shape = Shape::new(300, 100).unwrap();
    for degree in [512, 1024, 4096] {
        let text = TOY.replace("degree = 256", &format!("degree = {degree}"));
        let params = read::<TRespire>(&text).unwrap();
        answers(&params, shape, &[299], 2);
    }
}

/// A whole block masks an index, and all of its keystream is evaluated.
#[test]
fn a_whole_block_is_deciphered() {
    let text = TOY.replace("[query.key_switching]", "[query]\nwhole_block = true\n[query.key_switching]");
    let params = read::<TRespire>(&text).unwrap();
    let shape = Shape::new(300, 100).unwrap();
    answers(&params, shape, &[7], 1);
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
    let shape = Shape::new(1500, 250).unwrap();
    let mut own = context(1);
    let (_, mut client) = parties(&toy(), shape, &mut own);
    let keys = client.client.upload(None, &mut own).unwrap();
    let request = client.query(&[1499], &mut own).unwrap();
    let answer = |threads: usize| {
        let mut context = context(threads);
        let database = Database::seeded([3; 16], shape);
        let mut server = ServerSession::<TRespire>::new(&toy(), &database, &mut context).unwrap();
        assert_eq!(server.server.receive(&keys, &mut context).unwrap(), request.session);
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        response[0].1.payload().to_vec()
    };
    let expected = answer(1);
    for threads in [2, 3] {
        assert_eq!(answer(threads), expected, "{threads} threads");
    }
}

#[test]
fn descriptions_grow_with_the_database() {
    grows_up_to_the_bounds::<TRespire>(&toy());
}

/// Every stage of every round is decrypted and compared with AES in the clear, and no error comes near its threshold.
#[test]
fn every_round_is_that_of_aes() {
    let shape = Shape::new(2000, 200).unwrap();
    let mut context = context(1);
    let (server, mut client) = parties(&toy(), shape, &mut context);
    for index in [0, 1999] {
        let request = client.query(&[index], &mut context).unwrap();
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        let record = client.extract(&response, &context).unwrap();
        assert_eq!(record, [Database::seeded([3; 16], shape).record(index).unwrap()]);
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
