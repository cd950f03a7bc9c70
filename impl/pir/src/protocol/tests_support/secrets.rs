//! What queries must not share, and what errors are measured against.

use std::collections::HashSet;

use lattice::pack::PackingMasks;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Kernel, Seed};

use super::{context, parties};
use crate::core::database::Database;
use crate::core::protocol::Protocol;
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::{Shape, Workload};
use crate::parts::ring_matrix::RingQueries;

/// Asserts that no mask of two public seeds comes twice, as none may under one secret; their number.
pub fn never_repeat(masks: impl Fn(Seed) -> Vec<Vec<u32>>) -> usize {
    let mut seen = HashSet::new();
    for seed in [1, 2] {
        for (place, mask) in masks(Seed([seed; 16])).into_iter().enumerate() {
            assert!(seen.insert(mask), "mask {place} of seed {seed}");
        }
    }
    seen.len()
}

/// The masks of queries, and of the packing keys of the first roles, of three digits each.
pub fn masks_of(queries: &RingQueries, keys: &PackingMasks, roles: usize) -> Vec<Vec<u32>> {
    let rows = (0..3 * roles).map(|place| keys.row(place / 3, place % 3).clone());
    queries.masks().into_iter().chain(rows).map(|mask| mask.as_slice().to_vec()).collect()
}

/// Masks are public, so two queries under the same masks and secret tell the difference of their errors: their bodies agree in all but
/// low bits. Asks for one record again and again, twice in each request. Bits of fresh bodies agree by chance, one in two, except those that
/// are always zero, at most a quarter (numbers modulo q of 53 to 56 bits in eight bytes); bits of others nearly always, 5 in 6 where bodies
/// have 9 bits and the error three. At least [`COMPARED`] bits are compared in each way: of the three quarters that are random, 6 in 10
/// agree by chance with probability below exp(-2 * 1536 / 100) = 2^-44 (Hoeffding).
pub(super) fn secrets_serve_once<S: Protocol>(params: &S::Set, shape: Shape) {
    const COMPARED: usize = 2048;
    let mut context = context(Kernel::best(), 1);
    let (_, mut client) = parties::<S>(params, shape, &mut context);
    let sizes = [8, 16].map(|queries| S::describe(params, &Workload::new(shape, queries, 0).unwrap()).unwrap());
    // A counter is public and masks nothing: each of its values comes once.
    let mut counters = HashSet::new();
    let mut ask = || {
        let mut messages = client.ask(&[0, 0], &mut context).unwrap().messages;
        messages.retain(|(name, message)| *name != "counter" || !counters.insert(message.payload().to_vec()));
        messages
    };
    let first = ask();
    // A message is a part that all its queries share, then a body of `bits` bits for each.
    let parts = first.iter().map(|(name, message)| {
        let [eight, sixteen] = [&sizes[0], &sizes[1]].map(|sizes| sizes.payload_bytes(name) as usize);
        let bits = sixteen - eight;
        (8 * (message.payload().len() - (2 * bits).div_ceil(8)), bits)
    });
    let parts: Vec<(usize, usize)> = parts.collect();
    let fewest = parts.iter().flat_map(|&(shared, bits)| [shared, bits]).filter(|&bits| bits > 0).min().unwrap();
    let mut requests = vec![first];
    requests.resize_with(1 + COMPARED.div_ceil(fewest), &mut ask);
    for (number, (shared, bits)) in parts.into_iter().enumerate() {
        let (name, payload) = (requests[0][number].0, |request: usize| requests[request][number].1.payload());
        let agreeing = |(one, from): (&[u8], usize), (other, to): (&[u8], usize), count: usize| {
            let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
            (0..count).filter(|i| bit(one, from + i) == bit(other, to + i)).count()
        };
        let pairs = requests.len() - 1;
        let next = |start: usize, count: usize| -> usize {
            (0..pairs).map(|i| agreeing((payload(i), start), (payload(i + 1), start), count)).sum()
        };
        let within = (0..pairs).map(|i| agreeing((payload(i), shared), (payload(i), shared + bits), bits)).sum();
        for (equal, compared, which) in [
            (next(0, shared), pairs * shared, "shared parts of requests"),
            (next(shared, bits), pairs * bits, "bodies of requests"),
            (within, pairs * bits, "bodies of one request"),
        ] {
            assert!(10 * equal <= 7 * compared, "{name}: {equal} of {compared} bits agree in {which}");
        }
    }
}

/// Errors are those of the known message: the answer of a server that has other records than one knows, all bits ones for zeros, has errors
/// beyond the threshold at every stage, and to that server itself none.
pub(super) fn measures_errors_of_known_messages<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    // Where no instance of a lattice problem is sent, answers have no errors.
    let is_exact = S::describe(params, &Workload::new(shape, 1, 0).unwrap()).unwrap().instances.is_empty();
    // The same public seed, which is the first number that a server draws.
    let [mut server, other] = ["constant:ff", "constant:00"].map(|source| {
        context.rng = ChaCha20Rng::seed_from_u64(1);
        ServerSession::<S>::new(params, &Database::open(source, shape).unwrap(), &mut context).unwrap()
    });
    let mut client = ClientSession::<S>::new(params, shape, &mut context).unwrap();
    client.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
    let request = client.ask(&[shape.records - 1], &mut context).unwrap();
    let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
    client.extract(&response, &context).unwrap();
    for (server, is_known) in [(&server, true), (&other, false)] {
        context.noise = Default::default();
        client.log_errors(server, (&request, &response), &mut context).unwrap();
        let stages = context.noise.summary();
        assert_eq!(stages.is_empty(), is_exact);
        for stage in stages {
            assert_eq!(stage.max < stage.threshold, is_known, "{stage:?}");
        }
    }
}

/// Measured variance about zero at a stage over several keys.
pub fn noise_variance<S: Protocol>(params: &S::Set, shape: Shape, keys: usize, stage: &str) -> f64 {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties::<S>(params, shape, &mut context);
    for key in 0..keys {
        let request = client.ask(&[key as u64 % shape.records], &mut context).unwrap();
        let response = &server.answer(std::slice::from_ref(&request), &mut context).unwrap()[0];
        client.extract(response, &context).unwrap();
        client.log_errors(&server, (&request, response), &mut context).unwrap();
    }
    let summary = context.noise.summary();
    let stage = summary.iter().find(|found| found.stage == stage).unwrap();
    assert!(stage.keys >= 20 && stage.samples >= 1 << 14, "{} samples of {} keys", stage.samples, stage.keys);
    assert!(stage.max < stage.threshold);
    stage.stddev.powi(2)
}

/// Errors at each stage of 20 clients, who have a key each, agree within 0.3 bit with these variances, in units of the threshold's.
pub fn noise_is<S: Protocol>(params: &S::Set, shape: Shape, stages: &[(&str, f64)]) {
    let (database, mut context) = (Database::seeded([9; 16], shape), context(Kernel::best(), 1));
    let mut server = ServerSession::<S>::new(params, &database, &mut context).unwrap();
    for client in 0..20 {
        let mut asking = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        asking.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
        for query in 0..14 {
            let index = (client * 97 + query * 31) % shape.records;
            let request = asking.ask(&[index], &mut context).unwrap();
            let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
            asking.extract(&response, &context).unwrap();
            asking.log_errors(&server, (&request, &response), &mut context).unwrap();
            asking.diagnose(&server, &request, &mut context).unwrap();
        }
    }
    let measured = context.noise.summary();
    for (stage, variance) in stages {
        let found = measured.iter().find(|found| found.stage == *stage).unwrap();
        assert!(found.keys >= 20 && found.samples >= 1 << 14, "{stage}: {} samples", found.samples);
        let difference = (found.stddev / variance.sqrt()).log2();
        assert!(difference.abs() < 0.3, "{stage}: {difference} bits");
    }
}
