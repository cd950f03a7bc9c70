//! What sets for use promise.

use super::*;
use crate::core::workload::Shape;
use crate::protocol::pirouette::PirouetteProtocol;
use crate::protocol::pirouette::query::{Bits, Index};
use crate::protocol::tests_support::committed;

/// The description of the set that was found for this number of records of 256 bytes.
fn described<T, F: Selecting>(log2_records: u32, streamed: bool, check: impl FnOnce(&Described<'_, F>) -> T) -> T {
    let params = committed::<PirouetteProtocol<F>>(&format!("{}/2^{log2_records}", F::NAME));
    let shape = Shape::new(1 << log2_records, 2048).unwrap();
    let workload = Workload::new(shape, 1, 0).unwrap().streamed(streamed).unwrap();
    let ring = params.ring(Kernel::Scalar).unwrap();
    let layout = params.layout(shape).unwrap();
    check(&Described {
        params: &params,
        layout,
        workload: &workload,
        responder: Responder::new(params.response.params(), &ring).unwrap(),
        ring,
        bits: index_bits(&layout).into(),
    })
}

fn check_answering<F: Selecting>(log2_records: u32, streamed: bool) {
    described::<_, F>(log2_records, streamed, |described| {
        let keys: u64 = described.key_tables().unwrap().iter().map(|table| table.bytes).sum();
        let answering = described.answering();
        assert!(
            answering <= keys / 2,
            "{} 2^{log2_records}, streamed {streamed}: {answering} bytes beside {keys} of keys",
            F::NAME
        );
    });
}

/// Memory while answering is at most the database, in full or the block of it that is streamed, and one and a half times the
/// expanded keys.
#[test]
fn answers_take_half_the_memory_of_keys() {
    for (log2_records, streamed) in [20, 22, 25, 30].into_iter().flat_map(|size| [(size, false), (size, true)]) {
        check_answering::<Index>(log2_records, streamed);
        check_answering::<Bits>(log2_records, streamed);
    }
}

/// Every residue of a body that is sent is packed by the client and read by the server, those of the responses' ring apart, which are few.
fn check_keys<F: Selecting>() {
    described::<_, F>(20, false, |described| {
        let sent =
            keys::wire_bytes(described.params, &described.layout, &described.ring, &described.responder).unwrap();
        let bits = |wanted: &str, seeds: u64| {
            sent.iter().find(|(name, _)| *name == wanted).map_or(0, |(_, bytes)| 8 * (bytes - 24 * seeds))
        };
        let (n, primes) = (described.ring.n() as u64, described.ring.primes());
        let residue_bits: u64 = primes.iter().map(|&prime| u64::from(prime.ilog2() + 1)).sum();
        let ring = bits(keys::ROTATION, 1) + bits(keys::AUTOMORPHISMS, u64::from(n.ilog2())) + bits(keys::SQUARING, 1);
        let samples = described.params.query.switching().map_or(0, |switching| n * switching.length() as u64);
        let residues = ring / residue_bits * primes.len() as u64 + samples;
        let operations = described.operations().unwrap();
        assert_eq!(operations["keys"]["words_written"], residues, "{}", F::NAME);
        assert_eq!(operations["key_expansion"]["words_read"], residues, "{}", F::NAME);
        assert_eq!(
            operations["keys"]["multiply_adds_u32"],
            samples * described.params.lwe.dimension as u64,
            "{}",
            F::NAME
        );
    });
}

#[test]
fn keys_are_counted_as_they_are_sent() {
    check_keys::<Index>();
    check_keys::<Bits>();
}
