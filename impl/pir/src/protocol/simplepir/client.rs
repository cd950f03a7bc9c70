//! The client.

use lattice::lwe::{PublicMatrix, encrypt_zero, residual};
use ring::{DiscreteGaussian, Seed};
use zeroize::Zeroizing;

use super::Set;
use super::ahead::Stock;
use super::hint::Hint;
use super::server::{Server, delta_bytes};
use crate::core::seed::SEED_BYTES;
use crate::core::{
    Context, Error, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol, update_of,
};
use crate::parts::lwe_matrix::{EntryChange, Layout, Lwe, check_seeds, impossible_change, read_changes};

/// The client's offline messages.
struct Offline {
    /// Seed of the public matrix.
    seed: Seed,
    public: PublicMatrix,
    hint: Hint,
    /// Version of the database the hint belongs to.
    epoch: u16,
}

/// One requested index, with the secret of its query. Every query has its own secret.
pub struct Query {
    index: u64,
    key: Zeroizing<Vec<u32>>,
    /// Version of the database, and H s of it, where that was computed ahead.
    ahead: Option<(u16, Zeroizing<Vec<u32>>)>,
}

/// The hint and the tables for decryption with it.
pub struct Client {
    protocol: &'static str,
    lwe: Lwe,
    layout: Layout,
    error: DiscreteGaussian,
    offline: Option<Offline>,
    /// Queries made ahead, where they are.
    stock: Option<Stock>,
}

impl Client {
    fn receive_hint(&mut self, message: Frame) -> Result<()> {
        let length = SEED_BYTES + 4 * self.layout.rows * self.lwe.dimension;
        let message = message.check(self.protocol, "hint", length as u64)?;
        let mut seed = Seed([0; SEED_BYTES]);
        seed.0.copy_from_slice(&message.payload()[..SEED_BYTES]);
        let public = PublicMatrix::new(seed, self.lwe.dimension);
        let epoch = message.epoch();
        let hint = Hint::new(message, self.lwe.dimension);
        let is_known = self.offline.as_ref().is_some_and(|known| known.seed == seed);
        match &mut self.stock {
            Some(stock) if is_known => stock.renew(&hint),
            // The bodies in it are of another matrix.
            Some(stock) => *stock = Stock::default(),
            None => {}
        }
        self.offline = Some(Offline { seed, public, hint, epoch });
        Ok(())
    }

    fn offline(&self) -> Result<&Offline> {
        self.offline.as_ref().ok_or_else(|| Error::message("hint", "it must be fetched before a query."))
    }

    /// The answer, after checking that it fits the request and the client's hint.
    fn answer<'r>(&self, answer: &'r Messages, queries: usize) -> Result<(&'r Frame, &Offline)> {
        let message = only("answer", answer)?;
        message.clone().check(self.protocol, "answer", 4 * (self.layout.rows * queries) as u64)?;
        let offline = self.offline()?;
        message.check_epoch("answer", offline.epoch)?;
        Ok((message, offline))
    }

    /// Fresh secrets, and an encryption of zeros under each.
    fn encrypt(&self, queries: usize, context: &mut Context) -> Result<Encrypted> {
        let keys = self.lwe.keys(queries, &mut context.rng)?;
        let (public, columns) = (&self.offline()?.public, self.layout.columns);
        let bodies = encrypt_zero(public, columns, &keys, &self.error, context.kernel, &mut context.rng)?;
        Ok((keys, bodies))
    }
}

/// Secrets, and bodies under each.
type Encrypted = (Vec<Zeroizing<Vec<u32>>>, Vec<Vec<u32>>);

impl Query {
    /// <H[row], s>. What was computed ahead serves the version of the database that it was computed for.
    fn mask(&self, row: usize, offline: &Offline) -> u32 {
        match &self.ahead {
            Some((epoch, products)) if *epoch == offline.epoch => products[row],
            _ => offline.hint.inner_product(row, &self.key),
        }
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Query;

    fn new(params: &Set, shape: Shape, _: &mut Context) -> Result<Self> {
        Ok(Self {
            lwe: params.lwe.clone(),
            layout: params.layout(shape)?,
            error: params.lwe.error.sampler()?,
            offline: None,
            protocol: params.protocol(),
            stock: params.shards.map(|_| Stock::default()),
        })
    }

    fn receive(&mut self, messages: Messages, _: &mut Context) -> Result<()> {
        self.receive_hint(only("hint", &messages)?.clone())
    }

    /// A s + e and H s for queries whose indices are not known yet, each under a fresh secret.
    fn precompute(&mut self, queries: u64, context: &mut Context) -> Result<()> {
        if self.stock.is_some() {
            let (keys, bodies) = self.encrypt(queries as usize, context)?;
            if let (Some(stock), Some(offline)) = (&mut self.stock, &self.offline) {
                stock.add(keys, bodies, &offline.hint, self.layout.rows);
            }
        }
        Ok(())
    }

    /// A s + e + scale * unit vector of the record's column, one for each index, each under a fresh secret.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        indices.iter().try_for_each(|&index| self.layout.shape.check_index(index))?;
        let epoch = self.offline()?.epoch;
        let made: Vec<_> = match &mut self.stock {
            Some(stock) => {
                let taken = stock.take(indices.len())?.into_iter();
                taken.map(|ahead| (ahead.key, ahead.body, Some((epoch, ahead.products)))).collect()
            }
            None => {
                let (keys, bodies) = self.encrypt(indices.len(), context)?;
                keys.into_iter().zip(bodies).map(|(key, body)| (key, body, None)).collect()
            }
        };
        let columns = self.layout.columns;
        let mut builder = FrameBuilder::new(4 * columns * indices.len());
        let mut asked = Vec::with_capacity(indices.len());
        for (k, (&index, (key, mut body, ahead))) in indices.iter().zip(made).enumerate() {
            let (_, column, _) = self.layout.place(index);
            body[column] = body[column].wrapping_add(self.layout.scale());
            builder.put_words(4 * k * columns, &body);
            asked.push(Query { index, key, ahead });
        }
        Ok((asked, vec![("query", builder.finish(self.protocol, "query"))]))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (message, offline) = self.answer(answer, asked.len())?;
        let rows = self.layout.rows;
        let mut records = Vec::with_capacity(asked.len());
        for (k, query) in asked.iter().enumerate() {
            let (first_row, ..) = self.layout.place(query.index);
            let wide = self.layout.code.entries_per_record() as usize;
            let answer = message.words(4 * (k * rows + first_row), wide);
            let phase = |(row, word): (usize, u32)| word.wrapping_sub(query.mask(row, offline));
            records.push(self.layout.open(query.index, (first_row..).zip(answer).map(phase)));
        }
        Ok(records)
    }

    /// Logs one error for every row of the answer, which decrypts to an entry of the record's column.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let (message, offline) = self.answer(answer, asked.len())?;
        let (rows, scale) = (self.layout.rows, self.layout.scale());
        for (k, query) in asked.iter().enumerate() {
            let answer = message.words(4 * k * rows, rows);
            let (_, column, _) = self.layout.place(query.index);
            let error = |(row, word): (usize, u32)| {
                let phase = word.wrapping_sub(query.mask(row, offline));
                residual(phase, scale, server.database.entry(row, column))
            };
            context.noise.add("answer", f64::from(scale) / 2.0, answer.into_iter().enumerate().map(error));
        }
        Ok(())
    }

    fn update(&mut self, messages: &Messages, _: &mut Context) -> Result<()> {
        let (name, message) = update_of(messages)?;
        if name == "hint" {
            check_seeds(&self.offline()?.seed.0, message)?;
            return self.receive_hint(message.clone());
        }
        let layout = self.layout;
        let each = delta_bytes(1, layout.code.entries_per_record()) as usize;
        let deltas = |bytes: &[u8]| bytes.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]])).collect();
        let changes = read_changes(self.protocol, message, each, layout.shape)?;
        let offline = self.offline.as_mut().ok_or_else(|| Error::message("hint", "it must be fetched first."))?;
        let epoch = offline.epoch.wrapping_add(1);
        message.check_epoch("hint_delta", epoch)?;
        let changes = changes.into_iter().map(|(index, bytes)| EntryChange { index, deltas: deltas(bytes) });
        let changes: Vec<_> = changes.collect();
        let beyond = |delta: &i16| u32::from(delta.unsigned_abs()) >= layout.code.plain_modulus();
        if let Some(change) = changes.iter().find(|change| change.deltas.iter().any(beyond)) {
            return Err(impossible_change(change.index));
        }
        // Nothing is changed before everything is checked.
        for change in changes {
            offline.hint.apply(&change, &layout, &offline.public);
            if let Some(stock) = &mut self.stock {
                stock.apply(&change, &layout, &offline.public);
            }
        }
        offline.epoch = epoch;
        Ok(())
    }
}
