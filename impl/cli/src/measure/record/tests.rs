#[test]
fn identifiers_are_uuids_and_differ() {
    let (a, b) = (super::random_id().unwrap(), super::random_id().unwrap());
    assert_ne!(a, b);
    assert_eq!(a.len(), 36);
    assert_eq!(&a[14..15], "4");
}
