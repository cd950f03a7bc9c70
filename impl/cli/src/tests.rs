use clap::CommandFactory;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

/// The refusal of a command line in which an argument of a subcommand is added to others.
fn with_argument(words: &[&str], argument: &clap::Arg) -> ErrorKind {
    let value = match argument.get_id().as_str() {
        "with" => "key=1",
        _ if argument.get_action().takes_values() => "1",
        _ => "",
    };
    let added = match argument.get_long() {
        Some(long) if value.is_empty() => format!("--{long}"),
        Some(long) => format!("--{long}={value}"),
        None => value.to_string(),
    };
    let error = Cli::try_parse_from(words.iter().copied().chain([added.as_str()])).err();
    error.map_or(ErrorKind::DisplayHelp, |error| error.kind())
}

#[test]
fn what_a_mode_does_not_use_is_refused_beside_it() {
    let modes: [(&[&str], &[&str]); 6] = [
        (&["pirlab", "run", "--group=g.json"], &["group"]),
        (&["pirlab", "describe", "--batch"], &["batch", "out", "params_root"]),
        (&["pirlab", "calibrate", "--out=c.json", "--check"], &["out", "kernel", "check"]),
        (&["pirlab", "schema", "--all", "--out=folder"], &["all", "out"]),
        (&["pirlab", "schema", "--parameters", "--out=folder"], &["parameters", "out"]),
        (&["pirlab", "schema", "run"], &["name", "out"]),
    ];
    for (words, used) in modes {
        let root = Cli::command();
        let command = root.find_subcommand(words[1]).unwrap();
        for argument in command.get_arguments().filter(|argument| !used.contains(&argument.get_id().as_str())) {
            assert_eq!(with_argument(words, argument), ErrorKind::ArgumentConflict, "{words:?} {}", argument.get_id());
        }
    }
}

#[test]
fn refusals_of_the_command_line_are_one_paragraph() {
    let error = Cli::try_parse_from(["pirlab", "run", "--record-bit", "3"]).err().map(|e| e.to_string());
    let text = command_line(&error.unwrap());
    assert!(!text.contains('\n') && text.contains("--record-bit") && !text.starts_with("error"), "{text}");
}
