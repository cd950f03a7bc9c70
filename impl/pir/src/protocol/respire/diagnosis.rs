//! The noise of the intermediate ciphertexts of a response, which the client never sees.

use lattice::{Rlwe, RlweKey};
use ring::Coefficient;

use super::client::Client;
use super::query::{Asked, selected_bits};
use super::server::Server;
use crate::core::{Context, Error, Request, Result, client_of};
use crate::parts::folding::{OPENED, Selects, cell_errors, first_columns, selector_errors};
use crate::parts::ring_matrix::workspace;

impl Client {
    /// The error of an encryption of these coefficients modulo p, rotated back by some.
    fn errors(
        &self,
        key: &RlweKey<u32>,
        ciphertext: &Rlwe<u32, Coefficient>,
        coefficients: &[i64],
        turned: usize,
    ) -> Result<Vec<f64>> {
        let params = &self.engine.params;
        cell_errors(key, ciphertext, (coefficients, params.rlwe.scale(params.plain_modulus())), turned)
    }

    /// Logs errors of ciphertexts modulo q; at the threshold they would be decrypted wrongly.
    fn log(&self, context: &mut Context, stage: &str, errors: Vec<f64>) {
        let params = &self.engine.params;
        let threshold = params.rlwe.modulus() as f64 / 2.0 / params.plain_modulus() as f64;
        context.noise.add_under(Some(self.key_id), stage, threshold, errors);
    }

    /// Answers the query of `request` for its first index step by step and opens the result of each step.
    pub(super) fn open_answer(
        &self,
        asked: &[Asked],
        server: &Server,
        request: &Request,
        context: &mut Context,
    ) -> Result<()> {
        let Self { engine, layout, secrets, .. } = self;
        let key = &secrets.main;
        let asked = asked.first().ok_or_else(|| Error::message("answer", "no query was extracted."))?;
        let (place, keys) = (&asked.place, client_of(&server.clients, request.session)?);
        let query = server.parse(request)?.into_iter().nth(asked.query);
        let query = query.ok_or_else(|| Error::message("query", "a request has at least one query."))?;
        let (selection, mut workspace) = (&server.selection, workspace());
        let mut row = 0;
        let leaves = query.leaves(engine, layout, keys, &mut workspace)?.map(|part| {
            let part = part?;
            for leaf in part.iter().take(OPENED.saturating_sub(row)) {
                let mut message = vec![0; layout.dimensions.degree];
                message[0] = i64::from(row == place.row);
                self.log(context, "leaf", self.errors(key, leaf, &message, 0)?);
                row += 1;
            }
            Ok(part)
        });
        let vectors = vec![selection.leaves(leaves)?];
        let mut selectors = query.selectors(engine, layout, keys, &mut workspace)?;
        for (selector, bit) in selectors.iter().zip(selected_bits(layout, place)).take(OPENED) {
            for [body, mask] in selector_errors(key, &engine.gadgets.selector, selector, bit)? {
                self.log(context, "selector_body", body);
                self.log(context, "selector_mask", mask);
            }
        }

        let bucket = asked.query % server.places.buckets.count();
        let matrix = &server.matrices[bucket];
        let position_bits = selectors.split_off(layout.column_bits as usize);
        let (selects, join) = (Selects { vectors, selectors }, |mut pairs: Vec<_>| pairs.swap_remove(0));
        let (first, mut folded) =
            first_columns((selection, matrix), &engine.gadgets.selector, &selects, 1, join, context)?;
        for (number, column) in first.iter().enumerate() {
            let message = matrix.coefficients(place.row, number)?;
            self.log(context, "first_dimension", self.errors(key, column, &message, 0)?);
        }
        let folded: lattice::Rlwe<u32, Coefficient> = folded.swap_remove(0);
        let cell = matrix.coefficients(place.row, place.column)?;
        self.log(context, "folding", self.errors(key, &folded, &cell, 0)?);
        let turned = selection.position(&engine.gadgets.selector, &position_bits, folded, &mut workspace)?;
        self.log(context, "rotation", self.errors(key, &turned, &cell, place.position)?);
        let slot = server.project(keys, &turned, &mut workspace)?;
        let kept = |errors: Vec<f64>| errors.into_iter().step_by(layout.dimensions.slots()).collect();
        self.log(context, "projection", kept(self.errors(key, &slot, &cell, place.position)?));
        for (body, key) in server.vector(keys, &[slot], &mut workspace)?.iter().zip(&secrets.vector) {
            self.log(context, "vector", kept(self.errors(key, body, &cell, place.position)?));
        }
        Ok(())
    }
}
