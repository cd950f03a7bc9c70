use super::*;

#[test]
fn columns_align() {
    let mut table = Table::new(&["name", ">bytes"]);
    table.row(["a", "1"]);
    table.row(["longer", "12345678"]);
    assert_eq!(table.text(), "  name       bytes\n  a              1\n  longer  12345678\n");
}
