//! The noise of the ciphertexts on the way to a response, which the client never sees.

use lattice::{Rlwe, RlweKey};
use ring::Coefficient;

use super::engine::Engine;
use super::keys::Secrets;
use super::query::{Asked, selected_bits};
use super::server::Server;
use super::set::Set;
use crate::core::{Context, Error, Request, Result, client_of};
use crate::parts::folding::{Folding, Layout, cell_errors, selector_errors};
use crate::parts::ring_matrix::workspace;

/// Ciphertexts of a kind that are opened: their errors are alike.
const OPENED: usize = 4;

/// What opens the ciphertexts of one client.
pub struct Meter<'a> {
    pub engine: &'a Engine,
    /// Of a bucket.
    pub layout: &'a Layout,
    pub secrets: &'a Secrets,
    /// Tells the noise log one client's keys from another's.
    pub key_id: u64,
}

impl Meter<'_> {
    /// How far a ciphertext's phase is from the encryption of those coefficients modulo p, turned back by some.
    fn errors(
        &self,
        key: &RlweKey<u32>,
        ciphertext: &Rlwe<u32, Coefficient>,
        coefficients: &[i64],
        turned: usize,
    ) -> Result<Vec<f64>> {
        let Set { rlwe, .. } = &self.engine.params;
        cell_errors(key, ciphertext, (coefficients, rlwe.scale(self.engine.params.plain_modulus())), turned)
    }

    /// Logs errors of the ciphertexts modulo q: the threshold is where they would be decrypted wrongly.
    fn log(&self, context: &mut Context, stage: &str, errors: Vec<f64>) {
        let params = &self.engine.params;
        let threshold = params.rlwe.modulus() as f64 / 2.0 / params.plain_modulus() as f64;
        context.noise.add_under(Some(self.key_id), stage, threshold, errors);
    }
}

/// Answers the query of `request` for its first index step by step and opens what comes out.
pub fn diagnose(
    meter: &Meter,
    asked: &[Asked],
    (server, request): (&Server, &Request),
    context: &mut Context,
) -> Result<()> {
    let (engine, layout, key) = (meter.engine, meter.layout, &meter.secrets.main);
    let asked = asked.first().ok_or_else(|| Error::message("answer", "no query was extracted."))?;
    let (place, keys) = (&asked.place, client_of(&server.clients, request.session)?);
    let query = server.parse(request)?.into_iter().nth(asked.query);
    let query = query.ok_or_else(|| Error::message("query", "a request has at least one query."))?;
    let (selection, mut workspace) = (&server.store.selection, workspace());

    let mut row = 0;
    let leaves = query.leaves(engine, layout, keys, &mut workspace)?.map(|part| {
        let part = part?;
        for leaf in part.iter().take(OPENED.saturating_sub(row)) {
            let mut message = vec![0; layout.dimensions.degree];
            message[0] = i64::from(row == place.row);
            meter.log(context, "leaf", meter.errors(key, leaf, &message, 0)?);
            row += 1;
        }
        Ok(part)
    });
    let vectors = [selection.leaves(leaves)?];
    let selectors = query.selectors(engine, layout, keys, &mut workspace)?;
    for (selector, bit) in selectors.iter().zip(selected_bits(layout, place)).take(OPENED) {
        for [body, mask] in selector_errors(key, &engine.gadgets.selector, selector, bit)? {
            meter.log(context, "selector_body", body);
            meter.log(context, "selector_mask", mask);
        }
    }

    let bucket = asked.query % server.store.buckets.count();
    let matrix = &server.store.matrices[bucket];
    let mut columns = Vec::new();
    matrix.multiply(selection, &vectors, context, |_, multiply| {
        columns.append(&mut multiply()?[0]);
        Ok(())
    })?;
    for (number, column) in columns.iter().enumerate().take(OPENED) {
        let message = matrix.coefficients(place.row, number)?;
        meter.log(context, "first_dimension", meter.errors(key, column, &message, 0)?);
    }
    // One part tells as much as all of them.
    columns.truncate(layout.columns);
    let (column_bits, position_bits) = selectors.split_at(layout.column_bits as usize);
    let mut folding = Folding::new(selection, &engine.gadgets.selector, column_bits);
    folding.extend(columns)?;
    let folded = folding.finish()?.remove(0);
    let cell = matrix.coefficients(place.row, place.column)?;
    meter.log(context, "folding", meter.errors(key, &folded, &cell, 0)?);
    let turned = selection.position(&engine.gadgets.selector, position_bits, folded, &mut workspace)?;
    meter.log(context, "rotation", meter.errors(key, &turned, &cell, place.position)?);
    let slot = server.project(keys, &turned, &mut workspace)?;
    let kept = |errors: Vec<f64>| errors.into_iter().step_by(layout.dimensions.slots()).collect();
    meter.log(context, "projection", kept(meter.errors(key, &slot, &cell, place.position)?));
    for (body, key) in server.vector(keys, &[slot], &mut workspace)?.iter().zip(&meter.secrets.vector) {
        meter.log(context, "vector", kept(meter.errors(key, body, &cell, place.position)?));
    }
    Ok(())
}
