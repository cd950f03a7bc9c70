//! JSON lines in, JSON lines out.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, shortened};
use crate::output::checked;
use crate::store::{self, Input};

/// Most bytes of a line; a request with a parameter file of 1 MiB in it has a few MiB.
const MOST_BYTES: usize = 16 << 20;

/// Answers every line of standard input with a line, in order: the answer to a request, or {"id", "error"}. The answers go to standard
/// output, each before the next request is awaited, or all together to the file `out`.
pub fn answer_each<R: DeserializeOwned, A: Serialize>(
    out: Option<&Path>,
    describe: impl FnMut(R) -> Result<A, String>,
) -> Outcome<()> {
    let Some(out) = out.filter(|out| !store::is_standard(out)) else {
        return answer_into(&mut BufWriter::with_capacity(1 << 16, std::io::stdout().lock()), describe);
    };
    store::check(out, &[Input::new("standard input", Path::new("/dev/stdin"))])?;
    let mut answers = Vec::new();
    answer_into(&mut answers, describe)?;
    store::write(out, &String::from_utf8_lossy(&answers))
}

fn answer_into<R: DeserializeOwned, A: Serialize>(
    out: &mut impl Write,
    mut describe: impl FnMut(R) -> Result<A, String>,
) -> Outcome<()> {
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let unreadable = |e: std::io::Error| Failure::Input(format!("standard input: {e}. Give JSON lines."));
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            return checked(out.flush());
        }
        let request: Result<R, String> = if read > MOST_BYTES && !line.ends_with(b"\n") {
            input.skip_until(b'\n').map_err(unreadable)?;
            Err(format!("line {number} has more than {} MiB. Send a line for each request.", MOST_BYTES >> 20))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            serde_json::from_slice(&line).map_err(|e| format!("not a request: {e}"))
        };
        let answer = request
            .and_then(&mut describe)
            .and_then(|answer| serde_json::to_string(&answer).map_err(|e| e.to_string()));
        let answer = answer.unwrap_or_else(|problem| {
            let id = serde_json::from_slice::<Value>(&line).ok().and_then(|value| value.get("id").cloned());
            json!({"id": id, "error": shortened(problem)}).to_string()
        });
        checked(writeln!(out, "{answer}"))?;
        // Flushes, because the caller may wait for an answer before it sends the next request.
        if input.buffer().is_empty() {
            checked(out.flush())?;
        }
    }
}

/// Reads lines on a separate thread, which calls `at_end` after the last line, or at a line that nobody receives any more.
pub fn received(input: impl Read + Send + 'static, at_end: impl FnOnce() + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(input).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
        at_end();
    });
    lines
}
