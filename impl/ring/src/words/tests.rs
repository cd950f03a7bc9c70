use super::*;

#[test]
fn words_are_zero_writable_and_bounded() {
    let mut words = Words::zeroed(1000).unwrap();
    assert!(words.iter().all(|word| *word == 0));
    words[999] = 7;
    assert_eq!(words.iter().sum::<u32>(), 7);
    assert_eq!(Words::zeroed(0).unwrap().len(), 0);
    assert_eq!(Words::zeroed(usize::MAX).err(), Some(WordsError(usize::MAX)));
}

#[test]
fn words_have_their_bytes() {
    let mut words = Words::zeroed(3).unwrap();
    words.bytes_mut()[4] = 7;
    assert_eq!((words[1].to_le(), words.bytes().len()), (7, 12));
}
