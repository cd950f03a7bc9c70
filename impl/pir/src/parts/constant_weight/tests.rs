use super::*;

/// Every word of small codes: as many ones as the weight, different places, and the number of the word back.
#[test]
fn words_and_numbers_agree() {
    for bits in 1..=12 {
        for weight in 1..=bits {
            let code = ConstantWeight { bits, weight };
            let mut seen = std::collections::BTreeSet::new();
            for number in 0..code.words() {
                let ones = code.ones(number);
                assert_eq!(ones.len(), weight);
                assert!(ones.windows(2).all(|pair| pair[0] > pair[1]) && ones[0] < bits, "{ones:?}");
                assert_eq!(code.number(&ones), number);
                assert!(seen.insert(ones));
            }
        }
    }
}

#[test]
fn words_of_weight_two_are_in_colexicographic_order() {
    let code = ConstantWeight { bits: 4, weight: 2 };
    let words: Vec<Vec<usize>> = (0..code.words()).map(|number| code.ones(number)).collect();
    assert_eq!(words, [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]].map(Vec::from));
}

/// PIRANA's closed form, and CwPIR's code lengths for 2^8 to 2^18 keywords.
#[test]
fn codes_are_as_short_as_they_can_be() {
    for words in 1..5000u64 {
        let bits = ((1.0 + (1.0 + 8.0 * words as f64).sqrt()) / 2.0).ceil() as usize;
        assert_eq!(ConstantWeight::shortest(2, words).bits, bits.max(2), "{words}");
    }
    let lengths: Vec<usize> = (8..=18).map(|log| ConstantWeight::shortest(2, 1 << log).bits).collect();
    assert_eq!(lengths, [24, 33, 46, 65, 92, 129, 182, 257, 363, 513, 725]);
    assert_eq!(ConstantWeight::shortest(1, 1), ConstantWeight { bits: 1, weight: 1 });
    assert_eq!(ConstantWeight::shortest(3, 1 << 40).words().ilog2(), 40);
}
