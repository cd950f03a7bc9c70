//! Sums of plaintext products, and matrices by their diagonals.

use super::setup::cases;
use super::*;
use crate::{Diagonals, sum_products};
use lattice::Rlwe;

#[test]
fn sums_of_products_add_up() {
    let (shape, family) = cases()[4];
    let mut setup = Setup::<u64>::new(shape, family, 1);
    let pairs: Vec<_> = (0..5).map(|_| (setup.plaintext(), setup.plaintext())).collect();
    let plaintexts: Vec<_> = pairs.iter().map(|(x, _)| setup.scheme.prepare(x).unwrap()).collect();
    let ciphertexts: Vec<_> = pairs.iter().map(|(_, y)| setup.encrypt(y)).collect();
    let plaintexts: Vec<_> = plaintexts.iter().collect();
    let sum = sum_products(setup.ring(), &plaintexts, &ciphertexts.iter().collect::<Vec<_>>()).unwrap();
    let mut expected = vec![0; shape.n];
    for (x, y) in &pairs {
        expected.iter_mut().zip(product(x, y)).for_each(|(sum, x)| *sum += x);
    }
    assert_eq!(setup.decrypt(&sum), setup.modulus().shorten(&expected).unwrap());
    let one: Vec<&Rlwe<u64, _>> = ciphertexts.iter().take(1).collect();
    assert!(sum_products(setup.ring(), &plaintexts, &one).is_err());
}

#[test]
fn matrices_multiply_encrypted_slots() {
    for (case, baby) in [(0, 4), (0, 32), (1, 8), (4, 1), (4, 2), (5, 4)] {
        let (shape, family) = cases()[case];
        let mut setup = Setup::<u64>::new(shape, family, 2);
        let modulus = setup.modulus().clone();
        let (p, words) = (number(modulus.prime()), modulus.words());
        let row = modulus.slots() / modulus.id().rows();
        let entry = |slot: usize, column: usize| BigInt::from((slot * 31 + column * column * 7 + 3) % 1009) % &p;
        let write = |slot, column, value: &mut [u64]| {
            let (_, digits) = entry(slot, column).to_u64_digits();
            value.fill(0);
            value[..digits.len()].copy_from_slice(&digits);
        };
        let matrix = Diagonals::new(&setup.scheme, baby, write).unwrap();
        let vector = values(&modulus, &mut setup.rng);
        let ciphertext = setup.encrypt(&modulus.encode(&vector).unwrap());
        let keys: Vec<_> = matrix.baby_exponents().iter().map(|exponent| setup.rotation_key(*exponent)).collect();
        let giant = setup.rotation_key(matrix.giant_exponent());
        let result = matrix.multiply(&setup.gadget, &ciphertext, &keys, &giant).unwrap();
        let found = modulus.decode(&setup.decrypt(&result)).unwrap();
        for slot in 0..modulus.slots() {
            let first = slot - slot % row;
            let terms = (0..row).map(|j| entry(slot, j) * number(&vector[(first + j) * words..][..words]));
            let expected = terms.sum::<BigInt>() % &p;
            assert_eq!(number(&found[slot * words..][..words]), expected, "{family:?}, baby steps {baby}, slot {slot}");
        }
        assert!(matrix.multiply(&setup.gadget, &ciphertext, &[], &giant).is_err() == (baby > 1));
        assert!(Diagonals::new(&setup.scheme, 3, write).is_err());
    }
}
