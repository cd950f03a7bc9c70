use super::*;
use proptest::prelude::*;

fn frame(payload: &[u8]) -> Frame {
    let mut builder = FrameBuilder::new(payload.len());
    builder.payload_mut().copy_from_slice(payload);
    builder.finish("simplepir", "query")
}

#[test]
fn every_single_bit_flip_and_truncation_is_refused() {
    let good = frame(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(good.bytes().len(), 41);
    assert!(Frame::parse(good.bytes(), "simplepir", "query").is_ok());
    for bit in 0..8 * good.bytes().len() {
        let mut bad = good.bytes().to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Frame::parse(&bad, "simplepir", "query").is_err(), "bit {bit}");
    }
    for length in 0..good.bytes().len() {
        assert!(Frame::parse(&good.bytes()[..length], "simplepir", "query").is_err());
    }
    let mut long = good.bytes().to_vec();
    long.push(0);
    assert!(Frame::parse(&long, "simplepir", "query").is_err());
}

#[test]
fn names_and_lengths_are_checked() {
    let good = frame(&[0; 8]);
    assert!(Frame::parse(good.bytes(), "doublepir", "query").is_err());
    assert!(Frame::parse(good.bytes(), "simplepir", "answer").is_err());
    assert!(good.clone().check("simplepir", "query", 8).is_ok());
    assert!(good.check("simplepir", "query", 9).is_err());
}

proptest! {
    #[test]
    fn payloads_and_words_survive(payload in proptest::collection::vec(any::<u8>(), 0..200), words in proptest::collection::vec(any::<u32>(), 1..50)) {
        let sent = frame(&payload);
        let received = Frame::parse(sent.bytes(), "simplepir", "query").unwrap();
        prop_assert_eq!(received.payload(), &payload[..]);
        let mut builder = FrameBuilder::new(4 * words.len() + 4);
        builder.put_words(4, &words);
        prop_assert_eq!(builder.finish("a", "b").words(4, words.len()), words);
    }
}
