//! Errors of the first layer in rows that no query asked for: an answer shows but one word of it for each entry of a record.

use super::client::Client;
use super::server::Server;
use crate::core::error::Result;
use crate::core::scheme::{Context, Request};

/// Rows that are decrypted, at most.
const ROWS: usize = 1024;

/// Computes the first layer's answers once more and decrypts random rows of them with the hint that H1 holds in digits: evenly spaced
/// ones could all be of the same digits of records, whose noise differs.
pub(super) fn diagnose(client: &Client, server: &Server, request: &Request, context: &mut Context) -> Result<()> {
    let answers = server.first_answers(request, context)?;
    let length = answers.first().map_or(0, Vec::len);
    let rows = rand::seq::index::sample(&mut context.rng, length, ROWS.min(length)).into_vec();
    let hints: Vec<_> = rows.iter().map(|&row| server.hint_row(row)).collect();
    for (k, answer) in answers.iter().enumerate() {
        let rows = rows.iter().zip(&hints).map(|(&row, hint)| (row, &hint[..], answer[row]));
        client.log_first_layer(server, k, rows, &mut context.noise);
    }
    Ok(())
}
