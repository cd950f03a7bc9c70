//! What the tests of all forms of a query share: toy sets, the two parties, and answers that are compared.

use ring::Kernel;

use super::super::form::Selecting;
use super::super::set::Set;
use super::super::*;
use crate::core::database::Database;
use crate::core::protocol::{Client as _, Context, Server as _};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::workload::Shape;
use crate::protocol::tests_support::{self, read};

/// What all toy sets share: dimension 256, real noise, no security.
const COMMON: &str = r#"
title = "test"
[source]
kind = "toy"
[rlwe]
degree = 256
modulus = "268369921 * 249561089"
secret = { kind = "ternary" }
error = { stddev = 3.2 }
[lwe]
dimension = 40
secret = { kind = "binary" }
[blind_rotation]
base_log2 = 8
dropped = 2
bits_per_step = 2
[automorphism]
base_log2 = 4
dropped = 2
[squaring]
base_log2 = 7
[rgsw]
base_log2 = 4
dropped = 7
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

/// The toy set with that `[query]`, and with each change's first text replaced by its second.
pub fn set<F: Selecting>(query: &str, changes: &[(&str, &str)]) -> Set<F> {
    try_set(query, changes).unwrap()
}

pub fn try_set<F: Selecting>(query: &str, changes: &[(&str, &str)]) -> Result<Set<F>> {
    let mut text = format!("protocol = \"{}\"\n{COMMON}{query}", F::NAME);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    read::<PirouetteProtocol<F>>(&text)
}

pub fn context(threads: usize) -> Context<'static> {
    tests_support::context(Kernel::best(), threads)
}

/// The database of these parties.
pub fn database(shape: Shape) -> Database {
    Database::seeded([3; 16], shape)
}

pub fn parties<F: Selecting>(
    params: &Set<F>,
    shape: Shape,
    context: &mut Context,
) -> (ServerSession<PirouetteProtocol<F>>, ClientSession<PirouetteProtocol<F>>) {
    tests_support::parties_of::<PirouetteProtocol<F>>(params, &database(shape), context)
}

/// Every request, with its indices, is answered with the right records.
pub fn answers<F: Selecting>(params: &Set<F>, shape: Shape, requests: &[&[u64]], threads: usize) {
    let mut context = context(threads);
    let (server, mut client) = parties(params, shape, &mut context);
    for indices in requests {
        let request = client.query(indices, &mut context).unwrap();
        let response = server.answer(&[request], &mut context).unwrap().remove(0);
        let records = client.extract(&response, &context).unwrap();
        let expected: Vec<_> = indices.iter().map(|&index| database(shape).record(index).unwrap()).collect();
        assert_eq!(records, expected);
    }
}

/// An answer's bits are the same on every one of these numbers of threads, from a prepared and from a streamed database.
pub fn answers_alike<F: Selecting>(params: &Set<F>, shape: Shape, indices: &[u64], threads: &[usize]) {
    let mut own = context(1);
    let (_, mut client) = parties(params, shape, &mut own);
    let keys = client.client.upload(None, &mut own).unwrap();
    let request = client.query(indices, &mut own).unwrap();
    let answer = |threads: usize, block_columns: Option<usize>| {
        let mut context = context(threads);
        context.streamed = block_columns.is_some();
        let mut server = ServerSession::<PirouetteProtocol<F>>::new(params, &database(shape), &mut context).unwrap();
        server.server.matrix.block_columns = block_columns.unwrap_or(server.server.matrix.block_columns);
        assert_eq!(server.server.receive(&keys, &mut context).unwrap(), request.session);
        let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        response[0].1.payload().to_vec()
    };
    let expected = answer(1, None);
    for &threads in threads {
        assert_eq!(answer(threads, None), expected, "{threads} threads");
        assert_eq!(answer(threads, Some(2 * threads + 1)), expected, "{threads} threads, streamed");
    }
}
