//! The noise of the intermediate ciphertexts of an answer, which the client never sees.

use lattice::{Rgsw, Rlwe, RlweKey, VectorRlwe};
use ring::Coefficient;

use super::client::Client;
use super::convert;
use super::server::{Server, vector_of};
use crate::core::{Context, Error, Request, Result, client_of};
use crate::parts::folding::{OPENED, Place, Selected, Selects, cell_errors, first_columns, selector_errors};
use crate::parts::ring_matrix::workspace;

type Pair = Rlwe<u32, Coefficient>;

/// How ciphertexts of columns are made of pairs and opened as pairs, under as many keys.
struct Opening<'a, C> {
    keys: Vec<&'a RlweKey<u32>>,
    join: &'a dyn Fn(Vec<Pair>) -> C,
    parts: &'a dyn Fn(&C) -> Vec<Pair>,
}

impl Client {
    /// Answers the query of `request` for its first index step by step and opens the result of each step.
    pub(super) fn open_answer(
        &self,
        asked: &[Place],
        server: &Server,
        request: &Request,
        context: &mut Context,
    ) -> Result<()> {
        let Self { engine, secrets, .. } = self;
        let missing = || Error::message("query", "a request has at least one query.");
        let place = asked.first().ok_or_else(missing)?;
        let keys = client_of(&server.clients, request.session)?;
        let query = server.parse(request)?.into_iter().next().ok_or_else(missing)?;
        let mut workspace = workspace();
        let mut opened = Vec::with_capacity(OPENED);
        for part in query.leaves(engine, keys, &mut workspace)? {
            opened.extend(part?.into_iter().take(OPENED - opened.len()));
            if opened.len() == OPENED {
                break;
            }
        }
        for (row, leaf) in opened.iter().enumerate() {
            let mut message = vec![0; engine.ring.n()];
            message[0] = i64::from(row == place.row);
            self.log(context, "leaf", (&secrets.main, leaf), &message)?;
        }
        let vectors = query.vectors(engine, &server.selection, keys, &mut workspace)?;
        let length = engine.params.vector_length;
        if !engine.params.variant.packs() {
            let selects = Selects { vectors, selectors: convert::vectors(query, engine, keys, &mut workspace)? };
            let opening = Opening {
                keys: secrets.vector.iter().collect(),
                join: &|pairs| vector_of(pairs, length),
                parts: &|vector: &VectorRlwe<_, _>| (0..length).map(|j| vector.part(j)).collect(),
            };
            let part = |selector: &lattice::VectorRgsw<u32>| selector.part(0);
            self.log_selectors(context, place, opening.keys[0], selects.selectors.iter().map(part))?;
            return self.open_columns(place, server, &selects, &opening, context).map(drop);
        }
        let selects = Selects { vectors, selectors: convert::pairs(query, engine, keys, &mut workspace)? };
        let opening = Opening {
            keys: vec![&secrets.main],
            join: &|mut pairs| pairs.swap_remove(0),
            parts: &|pair: &Pair| vec![pair.clone()],
        };
        self.log_selectors(context, place, &secrets.main, selects.selectors.iter().cloned())?;
        let folded = self.open_columns(place, server, &selects, &opening, context)?;
        let packed = server.pack(keys, &folded, &mut workspace)?;
        let cell = server.matrix.cell(place)?;
        for (j, (key, message)) in secrets.vector.iter().zip(&cell).enumerate() {
            self.log(context, "packing", (key, &packed.part(j)), message)?;
        }
        Ok(())
    }

    /// Logs the rows of some selectors of the place's column.
    fn log_selectors(
        &self,
        context: &mut Context,
        place: &Place,
        key: &RlweKey<u32>,
        selectors: impl Iterator<Item = Rgsw<u32>>,
    ) -> Result<()> {
        for (selector, bit) in selectors.zip(self.engine.layout.column_bits_of(place)).take(OPENED) {
            for [body, mask] in selector_errors(key, &self.engine.selector, &selector, bit)? {
                context.noise.add_under(Some(self.key_id), "selector_body", self.threshold(), body);
                context.noise.add_under(Some(self.key_id), "selector_mask", self.threshold(), mask);
            }
        }
        Ok(())
    }

    /// Opens some columns, and the selected column of each polynomial of the first vector.
    fn open_columns<C: Selected>(
        &self,
        place: &Place,
        server: &Server,
        selects: &Selects<C::Selector>,
        opening: &Opening<C>,
        context: &mut Context,
    ) -> Result<Vec<C>> {
        let (engine, matrix, stacked) = (&self.engine, &server.matrix, opening.keys.len());
        let (tables, parts) = ((&server.selection, matrix), engine.params.vector_length / stacked);
        let (first, folded) = first_columns(tables, &engine.selector, selects, parts, opening.join, context)?;
        for (number, column) in first.iter().enumerate() {
            for (j, (part, key)) in (opening.parts)(column).iter().zip(&opening.keys).enumerate() {
                let message = matrix.coefficients(place.row * stacked + j, number)?;
                self.log(context, "first_dimension", (key, part), &message)?;
            }
        }
        let (mut cell, keys) = (matrix.cell(place)?.into_iter(), opening.keys.iter());
        for (part, key) in folded.iter().flat_map(opening.parts).zip(keys.cycle()) {
            self.log(context, "folding", (key, &part), &cell.next().unwrap_or_default())?;
        }
        Ok(folded)
    }

    /// Logs the errors of an encryption of these coefficients modulo p; at the threshold they would be decrypted wrongly.
    fn log(
        &self,
        context: &mut Context,
        stage: &str,
        (key, ciphertext): (&RlweKey<u32>, &Pair),
        coefficients: &[i64],
    ) -> Result<()> {
        let (rlwe, p) = (&self.engine.params.rlwe, self.engine.params.plain_modulus());
        let errors = cell_errors(key, ciphertext, (coefficients, rlwe.scale(p)), 0)?;
        context.noise.add_under(Some(self.key_id), stage, self.threshold(), errors);
        Ok(())
    }

    fn threshold(&self) -> f64 {
        let params = &self.engine.params;
        params.rlwe.modulus() as f64 / 2.0 / params.plain_modulus() as f64
    }
}
