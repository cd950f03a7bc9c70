//! `pirlab`: describes, runs, checks and compares single-server lattice PIR and the operations it is made of.

mod bars;
mod command;
mod failure;
mod lines;
mod machine;
mod measure;
mod output;
mod primitive;
mod protocol;
mod store;
mod units;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::{Failure, Outcome};

/// A laboratory for single-server lattice PIR (private information retrieval).
///
/// A parameter set is a TOML file, e.g. params/simplepir/usenix23.toml. `pirlab describe` says what it means at a database
/// size without touching a database; `pirlab run` runs it for real and writes a record.
#[derive(Parser)]
#[command(name = "pirlab", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(command::list::Args),
    Resolve(command::resolve::Args),
    Describe(command::describe::Args),
    Run(command::run::Args),
    Check(command::check::Args),
    Compare(command::compare::Args),
    Schema(command::schema::Args),
    Calibrate(command::calibrate::Args),
    Probe(command::probe::Args),
    Key(command::key::Args),
    Primitive(command::primitive::Args),
    #[command(hide = true)]
    Worker(command::worker::Args),
}

fn main() -> ExitCode {
    machine::memory::settle_allocator();
    match parse().and_then(dispatch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(cli: Cli) -> Outcome<()> {
    match cli.command {
        Command::List(args) => command::list::main(&args),
        Command::Resolve(args) => command::resolve::main(&args),
        Command::Describe(args) => command::describe::main(&args),
        Command::Run(args) => command::run::main(args),
        Command::Check(args) => command::check::main(&args),
        Command::Compare(args) => command::compare::main(&args),
        Command::Schema(args) => command::schema::main(&args),
        Command::Calibrate(args) => command::calibrate::main(&args),
        Command::Probe(args) => command::probe::main(&args),
        Command::Key(args) => command::key::main(&args),
        Command::Primitive(args) => command::primitive::main(&args),
        Command::Worker(args) => command::worker::main(&args),
    }
}

/// Parses the command line; what clap refuses becomes one paragraph like every other refusal.
fn parse() -> Outcome<Cli> {
    let command = Cli::command().mut_subcommands(|command| {
        command.mut_args(|arg| {
            let valued = arg.get_action().takes_values();
            arg.allow_negative_numbers(valued)
        })
    });
    command.try_get_matches().and_then(|found| Cli::from_arg_matches(&found)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Clap writes help to standard output and ignores a closed pipe.
            let _ = error.print();
            Failure::Printed(error.exit_code().clamp(0, 2) as u8)
        }
        _ => Failure::Input(command_line(&error.to_string())),
    })
}

/// Clap's message without its prefix, its usage and its line breaks.
fn command_line(message: &str) -> String {
    let message = message.split("\nUsage:").next().unwrap_or(message).split("\nFor more information").next();
    let words: Vec<&str> = message.unwrap_or_default().split_whitespace().collect();
    let text = words.join(" ");
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end_matches('.');
    format!("{text}. `pirlab --help` and `pirlab COMMAND --help` list all commands and options.")
}

#[cfg(test)]
mod tests;
