use super::*;
use ring::{Automorphism, Modulus};

#[test]
fn permutations_are_those_of_automorphisms() {
    let mut slots = Vec::new();
    for n in [64, 128, 2048] {
        let maps = SlotMaps::new(n);
        for exponent in [1, 3, 5, n as u64 + 1, 2 * n as u64 - 1] {
            maps.fill(exponent, &mut slots);
            assert_eq!(slots, Automorphism::new(n, exponent).unwrap().slots());
            assert_eq!(SlotMaps::inverse(exponent, n) * exponent % (2 * n as u64), 1);
        }
    }
}

/// What is put by automorphism is found by slots after the rearrangement, and by automorphism after its inverse.
#[test]
fn both_orders_hold_the_same() {
    for (n, order) in [(64, 64), (64, 8), (128, 128), (256, 32), (256, 2), (512, 512)] {
        let modulus = Modulus::new((1 << 31) - 1).unwrap();
        let mut matrix = BlockDiagonal::zero(&modulus, n, &[LINE, side(order)]).unwrap();
        let maps = SlotMaps::new(n);
        let group: Vec<Vec<u32>> = (0..order)
            .map(|m| {
                let mut slots = Vec::new();
                maps.fill((1 + 2 * n / order * m) as u64, &mut slots);
                slots
            })
            .collect();
        let value = |sigma: usize, slot: usize| (1 + sigma * n + slot) as u32;
        for (sigma, slots) in group.iter().enumerate() {
            let values: Vec<u32> = (0..n).map(|slot| value(sigma, slot)).collect();
            put(&mut matrix, 1, slots, &values);
        }
        finish(&mut matrix, 1);
        for (sigma, slots) in group.iter().enumerate() {
            for (slot, &source) in slots.iter().enumerate() {
                let columns = matrix.columns(slot / LINE, 1);
                assert_eq!(columns[source as usize % columns.len()][slot % LINE], value(sigma, slot));
            }
        }
        by_first(&mut matrix, 1);
        let mut values = vec![0; n];
        for (sigma, slots) in group.iter().enumerate() {
            take(&matrix, 1, slots, &mut values);
            assert!(values.iter().enumerate().all(|(slot, &found)| found == value(sigma, slot)));
        }
    }
}
