//! Errors of the first layer in rows that no query asked for: an answer shows but one word of it for each entry of a record.

use super::client::Client;
use super::server::Server;
use crate::error::Result;
use crate::scheme::{Context, Request};

/// Rows that are decrypted, at most.
const ROWS: usize = 1024;

/// Computes the first layer's answer to the last query once more and decrypts random rows of it with the hint that H1 holds in
/// digits: evenly spaced ones could all be of the same digits of records, whose noise differs.
pub(super) fn diagnose(client: &Client, server: &Server, request: &Request, context: &mut Context) -> Result<()> {
    let Some(answer) = server.first_answers(request, context)?.pop() else { return Ok(()) };
    let rows = rand::seq::index::sample(&mut context.rng, answer.len(), ROWS.min(answer.len()));
    let rows = rows.into_iter().map(|row| (server.hint_row(row), answer[row]));
    client.log_first_layer(rows, &mut context.noise);
    Ok(())
}
