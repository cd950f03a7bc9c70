use super::*;

#[test]
fn members_are_different_permutations_and_are_undone() {
    for bound in [1, 2, 3, 16, 17, 170, 4095] {
        let permutations = Permutations::new(&Seed([bound as u8; 16]), bound);
        let mut images = Vec::new();
        for member in [0, 1, 1 << 40] {
            let mut numbers: Vec<u64> = (0..bound).collect();
            permutations.apply_each(member, &mut numbers);
            for (number, &image) in (0..bound).zip(&numbers) {
                assert_eq!(permutations.apply(member, number), image);
                assert_eq!(permutations.invert(member, image), number);
            }
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..bound).collect::<Vec<_>>());
            images.push(numbers);
        }
        assert!(bound < 16 || images[0] != images[1] && images[1] != images[2]);
    }
}

/// Of a domain as small as a group of buckets: over many members every image of two neighbours is about equally likely.
#[test]
fn pairs_of_images_are_about_uniform() {
    const BOUND: u64 = 5;
    const MEMBERS: u64 = 40_000;
    let permutations = Permutations::new(&Seed([3; 16]), BOUND);
    let mut counts = [[0u64; BOUND as usize]; BOUND as usize];
    for member in 0..MEMBERS {
        counts[permutations.apply(member, 1) as usize][permutations.apply(member, 2) as usize] += 1;
    }
    let expected = MEMBERS as f64 / (BOUND * (BOUND - 1)) as f64;
    for (one, row) in counts.iter().enumerate() {
        for (other, &count) in row.iter().enumerate() {
            let off = (count as f64 - expected).abs() / expected.sqrt();
            assert!(if one == other { count == 0 } else { off < 5.0 }, "{one} {other}: {count} of {expected}");
        }
    }
}
