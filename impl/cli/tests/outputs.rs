//! Where results go: no file, pipe or device is lost to them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Lab, SIMPLE, Said, program, read_json, said};
use serde_json::Value;

const ROW: [&str; 5] = ["params/simplepir/small.toml", "--records", "1000", "--record-bits", "8"];

fn run(lab: &Lab, more: &[&str]) -> Said {
    lab.run(&[&ROW[..], &["--repetitions", "1"], more].concat())
}

/// Runs a program that must come to its end within a minute.
fn ends(mut command: Command) -> Said {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    said(child.wait_with_output().unwrap())
}

fn make(program: &str, arguments: &[&str], folder: &Path) -> bool {
    Command::new(program).args(arguments).current_dir(folder).stderr(Stdio::null()).status().unwrap().success()
}

fn is_record(value: &Value) {
    assert_eq!((&value["schema"], &value["status"]), (&"pirlab/run/1".into(), &"ok".into()));
}

#[test]
fn a_pipe_is_written_into() {
    let lab = Lab::new();
    assert!(make("mkfifo", &["pipe"], lab.folder.path()));
    let pipe = lab.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    assert_eq!(run(&lab, &["--out", "pipe"]).code, 0);
    assert!(std::fs::symlink_metadata(lab.path("pipe")).unwrap().file_type().is_fifo());
    is_record(&serde_json::from_str(&reader.join().unwrap()).unwrap());
}

#[test]
fn a_device_stays_a_device() {
    let lab = Lab::new();
    // A node like the null device's, which only root can make and not everywhere use.
    let made = make("mknod", &["node", "c", "1", "3"], lab.folder.path());
    if !made || std::fs::OpenOptions::new().write(true).open(lab.path("node")).is_err() {
        return;
    }
    let node = lab.path("node");
    let is_device = || std::fs::symlink_metadata(&node).unwrap().file_type().is_char_device();
    symlink("node", lab.path("link")).unwrap();
    for out in ["node", "link"] {
        assert_eq!(run(&lab, &["--out", out]).code, 0);
        assert_eq!(lab.pirlab(&["schema", "run", "--out", out]).code, 0);
        assert!(is_device(), "{out}");
    }
    assert!(std::fs::symlink_metadata(lab.path("link")).unwrap().is_symlink());
    assert_eq!(lab.other_files(&["node", "link"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn links_are_followed() {
    let lab = Lab::new();
    lab.put("there/old.json", "old");
    for (to, link) in [("there/old.json", "link.json"), ("there/new.json", "dangling.json")] {
        symlink(to, lab.path(link)).unwrap();
        assert_eq!(run(&lab, &["--out", link]).code, 0);
        assert!(std::fs::symlink_metadata(lab.path(link)).unwrap().is_symlink(), "{link}");
        is_record(&read_json(&lab.path(to)));
    }
}

#[test]
fn standard_output_holds_the_result_alone() {
    let lab = Lab::new();
    for out in ["-", "/dev/stdout"] {
        let said = run(&lab, &["--out", out]);
        assert_eq!(said.code, 0, "{}", said.err);
        is_record(&serde_json::from_str(&said.out).unwrap());
        assert!(said.err.contains("records right"), "{}", said.err);
    }
    let group = r#"{"experiment":"e","group":"g","rows":[{"id":"a","parameters":"params/simplepir/small.toml","records":8,
        "record_bits":8,"repetitions":1,"out":"-"}]}"#;
    lab.put("g.json", group);
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    is_record(&serde_json::from_str(&said.out).unwrap());
    assert!(said.err.contains("status"), "{}", said.err);
    let printed = lab.pirlab(&["schema", "run", "--out", "-"]);
    assert_eq!(printed.out, lab.pirlab(&["schema", "run"]).out);
    assert_eq!(lab.other_files(&["g.json"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn no_input_is_overwritten() {
    let lab = Lab::new();
    let records = [7; 1000];
    lab.put("db", records);
    std::fs::hard_link(lab.path("db"), lab.path("hard")).unwrap();
    lab.put("keys", "1\n2\n");
    symlink("db", lab.path("soft")).unwrap();
    symlink("params/simplepir/small.toml", lab.path("set")).unwrap();
    lab.put("params/simplepir/above.toml", SIMPLE.replace("title", "extends = \"small\"\ntitle"));
    let set = std::fs::read(lab.path("params/simplepir/small.toml")).unwrap();
    for (database, out, role) in [
        ("file:db", "db", "the database"),
        ("file:db", "./db", "the database"),
        ("mmap:db", "hard", "the database"),
        ("file:soft", "db", "the database"),
        ("file:db", "soft", "the database"),
        ("seeded:0", "set", "the parameter file"),
        ("seeded:0", "params/simplepir/small.toml", "the parameter file"),
        ("seeded:0,keys=keys", "keys", "the file of keys"),
        ("file:db,keys=keys", "./keys", "the file of keys"),
        ("file:db,keys=keys", "db", "the database"),
        ("seeded:0", "params/doublepir/small.toml", "a parameter set"),
    ] {
        run(&lab, &["--database", database, "--out", out]).is_refused(&["output", out, role, "destroyed"]);
    }
    run(&lab, &["--keys", "keys", "--out", "keys"]).is_refused(&["output keys", "the file of keys", "destroyed"]);
    for base in ["params/simplepir/small.toml", "set"] {
        let said = lab.run(&[&["simplepir/above"], &ROW[1..], &["--out", base]].concat());
        said.is_refused(&["output", base, "a parameter set", "destroyed"]);
    }
    let row = r#""parameters":"params/simplepir/small.toml","records":1000,"record_bits":8,"repetitions":1"#;
    for (first, second, parts) in [
        ("g.json", "b.json", ["row `a`", "the group file"]),
        ("set", "b.json", ["row `a`", "the parameter file"]),
        ("a.json", "hard", ["row `b`", "the database"]),
        ("here/a.json", "there/a.json", ["row `b`", "here/a.json"]),
    ] {
        if !lab.path("there").exists() {
            std::fs::create_dir(lab.path("here")).unwrap();
            symlink("here", lab.path("there")).unwrap();
        }
        let rows =
            format!(r#"{{{row},"id":"a","out":"{first}","database":"file:db"}},{{{row},"id":"b","out":"{second}"}}"#);
        let group = lab.put("g.json", format!(r#"{{"experiment":"e","group":"g","rows":[{rows}]}}"#));
        let before = std::fs::read(&group).unwrap();
        lab.pirlab(&["run", "--group", "g.json"]).is_refused(&parts);
        assert_eq!(std::fs::read(group).unwrap(), before);
    }
    assert_eq!(std::fs::read(lab.path("db")).unwrap(), records);
    assert_eq!(std::fs::read(lab.path("keys")).unwrap(), b"1\n2\n");
    assert_eq!(std::fs::read(lab.path("params/simplepir/small.toml")).unwrap(), set);
    assert_eq!(lab.other_files(&["db", "hard", "keys", "soft", "set", "g.json"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn planted_links_are_not_followed() {
    let lab = Lab::new();
    lab.put("victim", "mine");
    // The program that takes the shell's place has its process's number.
    let script = "ln -s victim .r.json.$$.part && exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program().0).args(["schema", "run", "--out", "r.json"]);
    command.current_dir(lab.folder.path());
    assert_eq!(ends(command).code, 0);
    assert_eq!(std::fs::read_to_string(lab.path("victim")).unwrap(), "mine");
    assert!(lab.json("r.json").is_object());
}

#[test]
fn nothing_is_left_where_the_target_is_a_folder() {
    let lab = Lab::new();
    lab.put("out/run.schema.json/kept", "mine");
    lab.pirlab(&["schema", "--all", "--out", "out"]).is_refused(&["run.schema.json", "folder"]);
    assert_eq!(lab.other_files(&["out/run.schema.json/kept"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_database_that_is_a_pipe_is_refused() {
    let lab = Lab::new();
    assert!(make("mkfifo", &["pipe"], lab.folder.path()));
    for kind in ["file", "mmap"] {
        let database = format!("{kind}:pipe");
        let arguments = ["--record-bits", "8", "--out", "r.json", "--database", &database];
        for records in [&["--records", "1000"][..], &[]] {
            let command = lab.command(&[&["run", "--no-probe", ROW[0]], &arguments[..], records].concat());
            ends(command).is_refused(&["pipe", "not a regular file"]);
        }
    }
}
