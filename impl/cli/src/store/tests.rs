use super::*;

#[test]
fn files_are_whole_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/r.json");
    check(&path, &[]).unwrap();
    assert!(!path.exists());
    write(&path, "one").unwrap();
    write(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert!(check(folder.path(), &[]).is_err());
    assert!(check(&path.join("below a file"), &[]).is_err());
    assert!(write(&path.join("below a file"), "x").is_err());
    assert!(check(Path::new(""), &[]).is_err() && check(Path::new(".."), &[]).is_err());
}

#[test]
fn an_output_that_is_an_input_or_another_output_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("db"), "records").unwrap();
    fs::hard_link(at("db"), at("same")).unwrap();
    let inputs = [Input::new("the database", &at("db"))];
    for name in ["db", "same"] {
        let said = check(&at(name), &inputs).unwrap_err().text();
        assert!(said.contains(name) && said.contains("the database"), "{said}");
    }
    check(&at("else"), &inputs).unwrap();
    fs::create_dir(at("sub")).unwrap();
    let spelled = at("sub/../else");
    let (place, failure) = check_all(&[&at("else"), &spelled], &inputs).unwrap_err();
    assert!(place == 1 && failure.text().contains("same file"), "{}", failure.text());
}

#[test]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (link, to) in [("a", "b"), ("b", "deep/r.json"), ("round", "round")] {
        symlink(to, at(link)).unwrap();
    }
    check(&at("a"), &[]).unwrap();
    write(&at("a"), "new").unwrap();
    fs::set_permissions(at("deep/r.json"), fs::Permissions::from_mode(0o640)).unwrap();
    write(&at("a"), "newer").unwrap();
    assert!(fs::symlink_metadata(at("a")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(at("deep/r.json")).unwrap(), "newer");
    assert_eq!(fs::metadata(at("deep/r.json")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(at("deep")).unwrap().count(), 1);
    assert!(check(&at("round"), &[]).is_err() && write(&at("round"), "x").is_err());
}
