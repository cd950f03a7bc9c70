use super::*;

#[test]
fn samples_are_per_call() {
    let mut measured = Measured::default();
    measured.time("a", 4, 2.0);
    measured.time("a", 8, 2.0);
    assert_eq!(measured.times["a"].samples, [0.5, 0.25]);
    assert_eq!(measured.times["a"].per, 8);
}

#[test]
fn seeds_follow_the_given_one_and_the_label() {
    let context = |seed| Context { kernel: Kernel::Scalar, seed };
    let given = context(Some([3; 32]));
    let other = context(Some([[3; 16], [4; 16]].concat().try_into().unwrap()));
    assert_eq!(given.seed("a").unwrap(), given.seed("a").unwrap());
    assert_ne!(given.seed("a").unwrap(), given.seed("b").unwrap());
    assert_ne!(given.seed("a").unwrap(), other.seed("a").unwrap());
    assert_ne!(context(None).seed("a").unwrap(), context(None).seed("a").unwrap());
}
