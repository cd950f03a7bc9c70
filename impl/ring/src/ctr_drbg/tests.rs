use super::*;

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

/// NIST CAVP, CTR_DRBG, AES-128 no df, no prediction resistance, no reseed, count 0: the second of two requests is what returns.
#[test]
fn output_equals_the_standard_vector() {
    let seed = bytes("ce50f33da5d4c1d3d4004eb35244b7f2cd7f2e5076fbf6780a7ff634b249a5fc");
    let mut drbg = CtrDrbg::new(&seed, &[0; 32]);
    let mut out = [0; 64];
    drbg.fill(&mut out);
    drbg.fill(&mut out);
    let expected: [u8; 64] = bytes(concat!(
        "6545c0529d372443b392ceb3ae3a99a30f963eaf313280f1d1a1e87f9db373d3",
        "61e75d18018266499cccd64d9bbb8de0185f213383080faddec46bae1f784e5a"
    ));
    assert_eq!(out, expected);
}

#[test]
fn personalizations_make_streams_of_their_own() {
    let stream = |seed: u8, personalization: u8, bytes: usize| {
        let mut out = vec![0; bytes];
        CtrDrbg::new(&[seed; 32], &[personalization; 32]).fill(&mut out);
        out
    };
    assert_ne!(stream(1, 0, 40), stream(1, 1, 40));
    assert_ne!(stream(1, 0, 40), stream(2, 0, 40));
    // A prefix does not depend on how much is asked for, up to a request.
    assert_eq!(stream(1, 0, 40), stream(1, 0, 100)[..40]);
    // A second request goes on under another key.
    let long = stream(1, 0, (1 << 16) + 32);
    assert_ne!(long[1 << 16..], long[..32]);
}
