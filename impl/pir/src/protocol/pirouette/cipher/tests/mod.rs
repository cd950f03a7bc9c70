mod clear;


use ring::Kernel;

use super::super::TRespire;
use super::super::set::Set;
use super::*;
use crate::core::database::Database;
use crate::core::protocol::{Context, Protocol as _};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{self, read};

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
