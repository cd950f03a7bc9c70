//! AES in the clear against the standard's vectors and the crate `aes`.

use ::aes::Aes128;
use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
use rand::Rng;
use ring::Kernel;

use super::super::aes::*;
use crate::protocol::tests_support::{self, left_of};

fn bytes(hex: &str) -> State {
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

/// FIPS 197: the cipher example of appendix B with its states, the last round key of appendix A.1, and the vector of appendix C.1.
#[test]
fn states_are_those_of_the_standard() {
    let keys = RoundKeys::new(&bytes("2b7e151628aed2a6abf7158809cf4f3c"));
    assert_eq!(*keys.of(1), bytes("a0fafe1788542cb123a339392a6c7605"));
    assert_eq!(*keys.of(10), bytes("d014f9a8c9ee2589e13f0cc8b6630ca6"));
    let states = keys.states(bytes("3243f6a8885a308d313198a2e0370734"));
    assert_eq!(states[0], bytes("193de3bea0f4e22b9ac68d2ae9f84808"));
    assert_eq!(states[1], bytes("a49c7ff2689f352b6b5bea43026a5049"));
    assert_eq!(states[9], bytes("eb40f21e592e38848ba113e71bc342d2"));
    assert_eq!(states[10], bytes("3925841d02dc09fbdc118597196a0b32"));
    let keys = RoundKeys::new(&bytes("000102030405060708090a0b0c0d0e0f"));
    let last = keys.states(bytes("00112233445566778899aabbccddeeff"))[ROUNDS];
    assert_eq!(last, bytes("69c4e0d86a7b0430d8cdb78070b4c55a"));
}

#[test]
fn blocks_are_those_of_the_crate() {
    let mut rng = tests_support::context(Kernel::best(), 1).rng;
    for _ in 0..200 {
        let (key, plain): (State, State) = (rng.random(), rng.random());
        let mut expected = plain.into();
        Aes128::new(&key.into()).encrypt_block(&mut expected);
        assert_eq!(RoundKeys::new(&key).states(plain)[ROUNDS][..], expected[..]);
    }
}

/// The sums that the server makes of bits are MixColumns.
#[test]
fn sums_of_bits_mix_columns() {
    let mut rng = tests_support::context(Kernel::best(), 1).rng;
    let keys = RoundKeys::new(&rng.random());
    let states = keys.states(rng.random());
    for round in 1..ROUNDS {
        let substituted = states[round - 1].map(substitute);
        for place in 0..BLOCK {
            for bit in 0..8 {
                let of = |(distance, bit): (usize, usize)| {
                    substituted[shifted_from((place + distance) % 4, place / 4)] >> bit & 1
                };
                let sum = mixed_from(bit).into_iter().map(of).fold(0, |sum, bit| sum ^ bit);
                assert_eq!(sum, (states[round][place] ^ keys.of(round)[place]) >> bit & 1);
            }
        }
    }
}

/// Four bytes of keystream need one column of round 9 and four bytes of round 8; three need one S-box less.
#[test]
fn the_last_rounds_make_what_is_needed() {
    let sizes = |bytes| needed(bytes).map(|places| places.len());
    assert_eq!(sizes(4), [16, 16, 16, 16, 16, 16, 16, 16, 4, 4, 4]);
    assert_eq!(sizes(1), [16, 16, 16, 16, 16, 16, 16, 16, 4, 1, 1]);
    assert_eq!(needed(4)[ROUNDS], [0, 13, 10, 7]);
    assert_eq!(needed(4)[8], [0, 5, 10, 15]);
    assert!(needed(0)[0].is_empty());
    assert_eq!(sizes(16), [16; 11]);
}

#[test]
fn round_keys_are_wiped() {
    let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
    let keys = RoundKeys::new(&key);
    for round in 0..=ROUNDS {
        assert_eq!(left_of(*keys.of(round), Box::new(RoundKeys::new(&key))), 0, "round {round}");
    }
}
