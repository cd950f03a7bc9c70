use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn moduli<W: Word>(values: &[u64]) -> Vec<Modulus<W>> {
    values.iter().map(|q| Modulus::new(W::from_u64(*q)).unwrap()).collect()
}

/// The definition, one candidate after the other.
fn slow<W: Word>(prg: &Prg, stream: u64, values: &[u64], n: usize) -> Vec<u64> {
    let (mut at, size, mut out) = (0, size_of::<W>(), Vec::new());
    for q in values {
        let goal = out.len() + n;
        while out.len() < goal {
            let mut word = [0; 8];
            prg.fill_stream_at(stream, at, &mut word[..size]);
            at += size as u64;
            let candidate = u64::from_le_bytes(word) & ((q - 1).next_power_of_two().max(2) * 2 - 1);
            let candidate = candidate & (u64::MAX >> (q - 1).leading_zeros());
            if candidate < *q {
                out.push(candidate);
            }
        }
    }
    out
}

fn check<W: Word>(values: &[u64], n: usize) {
    let prg = Prg::new([9; 16]);
    let mut out = vec![W::default(); n * values.len()];
    for stream in [0, 1, u64::MAX] {
        expand_uniform(&prg, stream, &moduli(values), &mut out);
        assert_eq!(out.iter().map(|x| x.to_u64()).collect::<Vec<_>>(), slow::<W>(&prg, stream, values, n));
    }
}

#[test]
fn expansion_is_rejection_from_the_words_of_its_stream() {
    check::<u32>(&[12289, (1 << 28) - 57, (1 << 30) + 1], 700);
    check::<u32>(&[2, 3, 1 << 16], 2000);
    check::<u64>(&[12289, (1 << 50) - 27, (1 << 61) + 1], 700);
    check::<u64>(&[1 << 40], 3);
}

#[test]
fn residues_are_uniform() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // A modulus just above a power of two, where a remainder would favour the small half.
    let q = (1 << 30) + (1 << 29);
    let mut out = vec![0; 60_000];
    fill_uniform(&mut rng, &moduli::<u32>(&[q]), &mut out);
    let mut counts = [0u32; 6];
    out.iter().for_each(|x| counts[(x / (1 << 28)) as usize] += 1);
    assert!(counts.iter().all(|count| (f64::from(*count) - 10_000.0).abs() < 500.0), "{counts:?}");
    fill_uniform::<u32>(&mut rng, &[], &mut []);
}
