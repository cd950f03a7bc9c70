//! The noise of the intermediate ciphertexts of an answer, which the client never sees.

use lattice::{Rlwe, noise};
use ring::{Coefficient, Poly};

use super::client::Client;
use super::server::Server;
use crate::core::{Context, Error, Request, Result};
use crate::parts::folding::{OPENED, OneOf, Place, Selects, constant, first_columns, selector_errors};

impl Client {
    /// Answers the query of `request` for its first index step by step and opens the result of each step.
    pub(super) fn open_answer(
        &self,
        asked: &[Place],
        server: &Server,
        request: &Request,
        context: &mut Context,
    ) -> Result<()> {
        let (engine, matrix, selection) = (&self.engine, &server.matrix, &server.selection);
        let missing = || Error::message("query", "a request has at least one query.");
        let place = asked.first().ok_or_else(missing)?;
        let query = server.parse(std::slice::from_ref(request))?.into_iter().next().ok_or_else(missing)?;
        let digits = engine.params.plain_digits;
        for (row, leaf) in query.first_leaves(engine, OPENED)?.iter().enumerate() {
            let scale = if row / digits == place.row { engine.scales[row % digits] } else { 0 };
            self.log(context, "leaf", leaf, &constant(&engine.ring, scale))?;
        }
        let selects =
            Selects { vectors: vec![query.vector(engine, selection, 1)?], selectors: query.selectors(engine, 1)? };
        for (selector, bit) in selects.selectors.concat().iter().zip(engine.units(place).concat()).take(OPENED) {
            for [body, mask] in selector_errors(&self.secret.key, &engine.selector, selector, bit)? {
                context.noise.add_under(Some(self.key_id), "selector_body", self.threshold(), body);
                context.noise.add_under(Some(self.key_id), "selector_mask", self.threshold(), mask);
            }
        }
        let join = |mut pairs: Vec<_>| OneOf(pairs.swap_remove(0));
        let (first, folded) = first_columns((selection, matrix), &engine.selector, &selects, 1, join, context)?;
        for (number, OneOf(column)) in first.iter().enumerate() {
            let digit = |k| matrix.coefficients(place.row * digits + k, number);
            let message = engine.phase(&(0..digits).map(digit).collect::<Result<Vec<_>>>()?);
            self.log(context, "first_dimension", column, &message)?;
        }
        let cell = matrix.cell(place)?;
        for (OneOf(folded), digits) in folded.iter().zip(cell.chunks(digits)) {
            self.log(context, "folding", folded, &engine.phase(digits))?;
        }
        Ok(())
    }

    /// Logs the errors of an encryption of that phase; at the threshold a plaintext would be decrypted wrongly.
    fn log(
        &self,
        context: &mut Context,
        stage: &str,
        ciphertext: &Rlwe<u32, Coefficient>,
        known: &Poly<u32, Coefficient>,
    ) -> Result<()> {
        let errors = noise::errors(&self.engine.ring, &self.secret.key.phase_coefficient(ciphertext), known)?;
        context.noise.add_under(Some(self.key_id), stage, self.threshold(), errors);
        Ok(())
    }

    /// Half of the distance of messages, in units of q.
    fn threshold(&self) -> f64 {
        self.engine.scales[0] as f64 / 2.0
    }
}
