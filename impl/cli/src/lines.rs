//! JSON lines in, JSON lines out.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::sync::mpsc::{Receiver, channel};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, shortened};
use crate::output::checked;

/// Answers every line of standard input with a line of standard output, in order: the answer to a request, or {"id", "error"}.
pub fn answer_each<R: DeserializeOwned, A: Serialize>(mut describe: impl FnMut(R) -> Result<A, String>) -> Outcome<()> {
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input
            .read_until(b'\n', &mut line)
            .map_err(|e| Failure::Input(format!("standard input: {e}. Give JSON lines.")))?;
        if read == 0 {
            return checked(out.flush());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = serde_json::from_slice(&line)
            .map_err(|e| format!("not a request: {e}"))
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
