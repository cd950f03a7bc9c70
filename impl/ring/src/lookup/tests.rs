use super::*;
use crate::prg::Seed;

fn random(count: usize, label: &str) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    Seed([7; 16]).derive(label).prg().fill_at(0, &mut bytes);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn residues_and_quotients_are_right() {
    let numbers = random(2000, "numbers");
    for value in (3..65_536).step_by(2).filter(|value| value % 97 < 3 || *value > 65_500 || *value < 20) {
        let small = Small::new(value).unwrap();
        let edges = [0, 1, small.value() - 1, small.value(), 2 * small.value(), u32::MAX];
        for x in numbers.iter().copied().chain(edges) {
            assert_eq!(small.reduce(x), x % small.value());
            assert_eq!(small.divide(x % 65_536), x % 65_536 / small.value());
            let wide = u64::from(x) << 16 | u64::from(x >> 9 & 0xffff);
            assert_eq!(u64::from(small.reduce_wide(wide)), wide % value);
        }
    }
    assert!([0, 1, 2, 4, 65_536, 65_537].iter().all(|value| Small::new(*value).is_none()));
}

/// Every path against plain arithmetic, for lengths that are not multiples of its vectors.
#[test]
fn loops_agree_with_plain_arithmetic() {
    let (points, m, p) = (101usize, 3usize, 31u32);
    let (small, square) = (Small::new(p.into()).unwrap(), Small::new(u64::from(p * p)).unwrap());
    let x: Vec<u32> = random(points * m, "points").into_iter().map(|x| x >> 1).collect();
    let stride = 2 + m + 1;
    let table: Vec<u8> = random(p.pow(3) as usize * stride + 8, "table").into_iter().map(|x| (x % p) as u8).collect();
    for kernel in Kernel::available() {
        let lookups = Lookups::new(kernel).unwrap();
        let (mut places, mut split, mut high) = (vec![0; points], vec![0; points], vec![0; points * m]);
        lookups.places(small, &x, 5, &mut places);
        lookups.split_places((small, square), &x, 5, &mut split, &mut high);
        assert_eq!(places, split);
        lookups.ask(&table, stride, &places);
        let (mut read, mut jets) = (vec![0; points], vec![0; points]);
        lookups.bytes(&table, (stride, 2), &places, &mut read);
        lookups.jets(small, (&table, stride, 1), &places, &high, &mut jets);
        let mut pairs = vec![0; points];
        lookups.pairs(&table, (stride, 1), &places, &mut pairs);
        let (mut first, mut second, mut one) = (vec![3u64; points], vec![4u64; points], vec![0u64; points]);
        lookups.add_products(&read, [u32::MAX, 12_345], &mut first, &mut second);
        lookups.add_product(&read, 1_000_003, &mut one);
        let mut residues = vec![0; points];
        lookups.take(square, &mut one, &mut residues);
        assert!(one.iter().all(|sum| *sum == 0));
        for i in 0..points {
            let coordinate = |j: usize| x[j * points + i] + 5;
            let place = (0..m).fold(0, |place, j| place * p + coordinate(j) % p);
            assert_eq!(places[i], place);
            let record = &table[place as usize * stride..];
            assert_eq!(read[i], u32::from(record[2]));
            assert_eq!(first[i], 3 + u64::from(read[i]) * u64::from(u32::MAX));
            assert_eq!(second[i], 4 + u64::from(read[i]) * 12_345);
            assert_eq!(u64::from(residues[i]), u64::from(read[i]) * 1_000_003 % u64::from(p * p));
            let sum: u32 = (0..m).map(|j| u32::from(record[3 + j]) * (coordinate(j) % (p * p) / p)).sum();
            let value = u32::from(record[1]) + 256 * u32::from(record[2]);
            assert_eq!(jets[i], value + p * (sum % p));
            assert_eq!(pairs[i], value);
            for j in 0..m {
                assert_eq!(high[j * points + i], coordinate(j) % (p * p) / p);
            }
        }
        lookups.reduce(small, &x, 7, &mut high);
        assert!(high.iter().zip(&x).all(|(residue, x)| *residue == (x + 7) % p));
    }
}

/// A record that the table does not hold whole stops the program on every path, instead of giving a number that is nowhere.
#[test]
fn reads_beyond_the_table_panic() {
    let (table, small) = ([1; 24], Small::new(31).unwrap());
    for kernel in Kernel::available() {
        let lookups = Lookups::new(kernel).unwrap();
        let mut out = [0];
        let mut fails = |read: &mut dyn FnMut(&mut [u32])| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&mut out))).is_err()
        };
        assert!(!fails(&mut |out| lookups.bytes(&table, (8, 7), &[2], out)));
        assert!(!fails(&mut |out| lookups.pairs(&table, (8, 6), &[2], out)));
        assert!(!fails(&mut |out| lookups.jets(small, (&table, 8, 0), &[2], &[1], out)));
        assert!(fails(&mut |out| lookups.bytes(&table, (8, 0), &[3], out)));
        assert!(fails(&mut |out| lookups.pairs(&table, (8, 7), &[2], out)));
        assert!(fails(&mut |out| lookups.jets(small, (&table, 8, 1), &[2], &[1], out)));
        assert!(fails(&mut |out| lookups.jets(small, (&table, 8, 0), &[u32::MAX], &[1], out)));
    }
}
