use super::*;

#[test]
fn digits_give_the_residue_back() {
    for prime in [2, 12289, 268_369_921, 249_561_089, (1 << 28) - 57, MAX_PRIME] {
        let edge = (i64::from(MAX_PRIME) - LOWEST) as u32;
        for residue in [0, 1, prime / 3, prime / 2, prime / 2 + 1, prime - 1, edge - 1, edge, edge + 1] {
            if residue >= prime {
                continue;
            }
            let [a, b, c] = split(prime, residue).map(i64::from);
            assert!([a, b, c].iter().all(|digit| (-HALF..HALF).contains(digit)), "{prime} {residue}");
            let number = a + RADIX * (b + RADIX * c);
            assert_eq!(number.rem_euclid(prime.into()), i64::from(residue), "{prime} {residue}");
            let moduli: [Modulus<u32>; 2] = [Modulus::new(prime).unwrap(), Modulus::new(12289).unwrap()];
            let vector = ResidueVector::new(&moduli, &[[0; 40], [residue % 12289; 40]].concat()).unwrap();
            assert_eq!((vector.residue(35, 0), vector.residue(35, 1)), (0, residue % 12289));
            let vector = ResidueVector::new(&moduli[..1], &[residue; 3]).unwrap();
            assert_eq!(vector.residue(2, 0), residue);
        }
    }
}
