//! Measured noise against moments of Gaussian variables, at a degree where these converge.

use ring::Kernel;

use super::super::engine::Engine;
use super::super::server::polynomials;
use super::super::*;
use crate::core::Shape;
use crate::core::database::Database;
use crate::protocol::tests_support::{context, parties_of, read};

const T: f64 = 257.0;
const N: f64 = 64.0;

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

/// In each slot of the canonical embedding inputs are complex Gaussians of mean square n V, so that |v|^2a has mean a! (n V)^a; the switch adds
/// delta_j s^j with delta_j uniform over an interval of length t.
#[test]
fn noise_is_that_of_the_steps() {
    let set: Set = read::<Depir>(
        "protocol = \"depir\"\ntitle = \"test\"\nvariables = 2\ndegree = 3\n[source]\nkind = \"own\"\n\
         [ring]\ndegree = 64\nplaintext_modulus = 257\nsecret = { kind = \"ternary\" }\nerror = { stddev = 1.5 }\n\
         [primes]\nquery = 3\nanswer = 1\nabove_log2 = 27\n[tables]\nevaluator = \"derivatives\"\nmemory_mib = 16\n",
    )
    .unwrap();
    let shape = Shape::new(10, 8).unwrap();
    let (database, mut context) = (Database::seeded([9; 16], shape), context(Kernel::best(), 1));
    let engine = Engine::new(&set, shape, Kernel::best()).unwrap();
    let polynomial = polynomials(&engine, &database).unwrap().remove(0);
    let input = N * (T * T * 1.5f64.powi(2) + T * T / 12.0);
    let terms = polynomial.iter().enumerate().map(|(position, c)| {
        let exponents = engine.monomials.exponents(position);
        let moment: f64 = exponents.iter().map(|a| factorial(*a) * input.powi(*a as i32)).product();
        (*c as f64).powi(2) * moment
    });
    let value = terms.sum::<f64>() / N;
    let switch = (0..=3).map(|j| factorial(j) * (2.0 / 3.0 * N).powi(j as i32)).sum::<f64>() * T * T / 12.0;
    let primes: Vec<f64> = set.ciphertext_primes().into_iter().map(|prime| prime as f64).collect();
    let q = primes.iter().product::<f64>();
    let answer = value / q.powi(2) + switch / primes[0].powi(2);

    let (server, mut client) = parties_of::<Depir>(&set, &database, &mut context);
    for query in 0..400u64 {
        let indices: Vec<u64> = (0..64).map(|slot| (query * 37 + slot * slot * 11 + slot * query) % 10).collect();
        let request = client.ask(&indices, &mut context).unwrap();
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        client.extract(&response, &context).unwrap();
        client.log_errors(&server, (&request, &response), &mut context).unwrap();
        client.diagnose(&server, &request, &mut context).unwrap();
    }
    for (stage, predicted) in [("value", value / q.powi(2)), ("answer", answer)] {
        let found = context.noise.summary().into_iter().find(|found| found.stage == stage).unwrap();
        assert!(found.keys >= 20 && found.samples >= 1 << 14);
        let difference = (found.stddev / predicted.sqrt()).log2();
        assert!(difference.abs() < 0.3, "{stage}: {difference} bits");
    }
}
