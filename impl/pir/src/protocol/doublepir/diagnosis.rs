//! Errors of the first layer in rows that no query asked for: an answer shows but one word of it for each entry of a record.

use super::client::Client;
use super::server::Server;
use crate::error::Result;
use crate::scheme::{Context, Request};

/// Rows that are decrypted, at most.
const ROWS: usize = 1024;

/// Computes the first layer's answer to the last query once more and decrypts rows of it, evenly spaced, with the hint that H1
/// holds in digits.
pub(super) fn diagnose(client: &Client, server: &Server, request: &Request, context: &mut Context) -> Result<()> {
    let Some(answer) = server.first_answers(request, context)?.pop() else { return Ok(()) };
    let spacing = answer.len().div_ceil(ROWS).max(1);
    let rows = answer.iter().enumerate().step_by(spacing);
    let rows = rows.map(|(row, &word)| (server.hint_row(row), word));
    client.log_first_layer(rows, &mut context.noise);
    Ok(())
}
