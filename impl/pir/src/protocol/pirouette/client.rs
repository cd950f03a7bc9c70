//! The client of Pirouette, Pirouette^H and T-Respire.

use std::sync::Arc;

use lattice::Masks;
use rand::RngCore;
use ring::Ring;

use super::carrier::{Asker, Carrier};
use super::encrypted;
use super::form::Selecting;
use super::keys::Secrets;
use super::server::Server;
use super::set::{Set, index_bits};
use super::trace::Trace;
use crate::core::seed::fresh_seed;
use crate::core::{
    Context, Database, Error, Frame, Group, Messages, NoiseLog, Record, Request, Result, Shape, only, protocol,
};
use crate::parts::folding::{Encoder, Layout, Place, Responder};

/// A client's secrets.
pub struct Client<F: Selecting> {
    params: Set<F>,
    pub(super) layout: Layout,
    responder: Responder,
    pub(super) secrets: Secrets,
    /// What the client asks with.
    pub(super) asker: Asker<F>,
    /// Identifies this client's keys in the noise log.
    key: u64,
}

impl<F: Selecting> Client<F> {
    /// The client's records, encrypted under its ring key.
    fn encrypt(&self, database: &Database, context: &mut Context) -> Result<Frame> {
        let ring = self.secrets.ring.ring();
        let encoder = Encoder::new(self.layout, ring);
        let error = self.params.rlwe.error.sampler()?;
        // A separate seed, so that no mask of the keys is used again.
        let mut masks = Masks::new(fresh_seed(&mut context.rng));
        let scaled = (&self.secrets.ring, self.params.scale());
        let bytes = encrypted::encrypt(&encoder, database, scaled, &error, &mut masks, context)?;
        Ok(Frame::of(F::NAME, encrypted::DATABASE, &bytes))
    }

    /// The answer's message.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        let message = only("answer", answer)?;
        let bytes = self.responder.response_bytes() * self.layout.slots * queries;
        message.clone().check(F::NAME, "answer", bytes as u64)
    }

    fn slots<'a>(&self, message: &'a Frame) -> std::slice::ChunksExact<'a, u8> {
        message.payload().chunks_exact(self.responder.response_bytes())
    }

    /// The trace that opens the answer to a query for a place whose plaintext polynomials are `cell`.
    fn trace<'a>(&'a self, place: Place, cell: Vec<Vec<i64>>, noise: &'a mut NoiseLog) -> Trace<'a, F> {
        let Self { params, layout, secrets, asker, key, .. } = self;
        Trace { params, layout, secrets, asker, place, cell, key: *key, noise }
    }
}

impl<F: Selecting> protocol::Client for Client<F> {
    type Server = Server<F>;
    type Query = Place;

    /// A client with fresh secrets.
    fn new(params: &Set<F>, shape: Shape, context: &mut Context) -> Result<Self> {
        let ring: Arc<Ring<u32>> = params.ring(context.kernel)?;
        let responder = Responder::new(params.response.params(), &ring)?;
        let layout = params.layout(shape)?;
        let secrets = Secrets::sample(params, &ring, &responder, &mut context.rng)?;
        let asker = F::Carrier::asker(params, context)?;
        let key = context.rng.next_u64();
        Ok(Self { params: params.clone(), layout, responder, secrets, asker, key })
    }

    /// Fresh keys (phase `keys`), what the server needs to read queries, and the client's encrypted records if it owns them (phase
    /// `database_encryption`).
    fn upload(&mut self, owned: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let clock = Arc::clone(&context.clock);
        let mut messages = clock.time("keys", Group::Offline, || -> Result<Messages> {
            let mut keys = self.secrets.messages(&self.params, &self.responder, context)?;
            keys.extend(F::Carrier::introduce(&self.params, &self.asker, &self.secrets, context)?);
            Ok(keys)
        })?;
        if let Some(database) = owned {
            let encrypted = clock.time("database_encryption", Group::Offline, || self.encrypt(database, context))?;
            messages.push((encrypted::DATABASE, encrypted));
        }
        Ok(messages)
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Place>, Messages)> {
        indices.iter().try_for_each(|&index| self.layout.shape.check_index(index))?;
        let places: Vec<Place> = indices.iter().map(|&index| self.layout.place(index)).collect();
        let asked = (&places[..], index_bits(&self.layout));
        let messages = F::Carrier::ask(&self.params, &mut self.asker, &self.secrets, asked, context)?;
        Ok((places, messages))
    }

    fn extract(&mut self, places: &[Place], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let message = self.message(answer, places.len())?;
        let mut slots = self.slots(&message);
        let mut records = Vec::with_capacity(places.len());
        for place in places {
            let open = |bytes| self.responder.open(&self.secrets.response, bytes, self.params.database.plain_modulus);
            let digits: Result<Vec<_>> = slots.by_ref().take(self.layout.slots).map(open).collect();
            records.push(Encoder::record(&self.layout, place, &digits?));
        }
        Ok(records)
    }

    /// Logs the errors of every coefficient of a response, in units of the body's modulus.
    fn log_errors(
        &self,
        places: &[Place],
        server: &Server<F>,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let message = self.message(answer, places.len())?;
        let unit = self.params.response.mask_modulus as f64 / self.params.response.body_modulus as f64;
        let plain_modulus = self.params.database.plain_modulus;
        let mut slots = self.slots(&message);
        for place in places {
            for (messages, bytes) in server.matrix.slots(place)?.into_iter().zip(slots.by_ref()) {
                let (threshold, errors) =
                    self.responder.errors(&self.secrets.response, bytes, plain_modulus, messages)?;
                let errors = errors.into_iter().map(|error| f64::from(error) / unit);
                context.noise.add_under(Some(self.key), "response", threshold / unit, errors);
            }
        }
        Ok(())
    }

    fn diagnose(&self, places: &[Place], server: &Server<F>, request: &Request, context: &mut Context) -> Result<()> {
        let place = *places.first().ok_or_else(|| Error::message("answer", "nothing was extracted yet."))?;
        let cell = server.matrix.cell(&place)?;
        // The trace needs a log of its own while the server borrows the context.
        let mut noise = std::mem::take(&mut context.noise);
        let mut trace = self.trace(place, cell, &mut noise);
        server.answer_traced(std::slice::from_ref(request), Some(&mut trace), context)?;
        context.noise = noise;
        Ok(())
    }
}
