use super::*;

fn checked(commit: &'static str, commit_remark: Option<&'static str>) -> Checked {
    Checked {
        schema: "pirlab/check/1",
        machine: pir::core::record::Machine::default(),
        kernels: Vec::new(),
        read_bandwidth: None,
        tools: Vec::new(),
        build: Built { version: "1", commit, commit_remark, dirty: false, rustc: "rustc", profile: PROFILE },
    }
}

#[test]
fn the_screen_says_why_the_commit_is_unknown() {
    let found = checked("unknown", Some("git refuses: not a git repository"));
    let text = screen(&found);
    let line = text.lines().find(|line| line.trim_start().starts_with("commit unknown "));
    assert!(line.is_some_and(|line| line.ends_with("git refuses: not a git repository")), "{text}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["build"]["commit_remark"], "git refuses: not a git repository");
    assert!(!screen(&checked("0123abcd", None)).lines().any(|line| line.trim_start().starts_with("commit")));
}
