use super::Residue;

#[test]
fn quotients_are_those_of_integers() {
    for base in [3u64, 5, 7, 127, 401, 16_088, 524_287, (1 << 20) - 1] {
        let inverse = 1.0 / base as f64;
        let multiples = (0..64).flat_map(|bits| [u64::MAX >> bits, 1 << bits, base << bits.min(43)]);
        let edges = multiples.flat_map(|x| [x / base * base, (x / base * base).wrapping_sub(1), x, x.wrapping_add(1)]);
        let mut state = base;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> (state & 31)
        });
        for value in edges.chain(random.take(100_000)) {
            // SAFETY: the bases are in range, the inverse is the base's.
            assert_eq!(unsafe { value.quotient(base, inverse) }, value / base, "{value} by {base}");
        }
    }
}
