#[test]
fn rows_are_together_while_they_fit() {
    let rows = || vec![3, 4, 5, 9, 1];
    let peak = |row: &u64| *row;
    assert_eq!(super::of(rows(), peak, Some(8)), [vec![3, 4], vec![5], vec![9], vec![1]]);
    assert_eq!(super::of(rows(), peak, None).len(), 5);
}
