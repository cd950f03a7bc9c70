//! InsPIRe's client: no state between queries but the public seed, a fresh secret for every index.

use lattice::{RlweKey, SeededRgsw, SplitRing, SplitRlwe};
use ring::{DiscreteGaussian, Poly};

use super::layout::{Layout, Place};
use super::public::Public;
use super::server::Server;
use super::set::{NAME, QueryCoefficients, Set};
use crate::core::database::Record;
use crate::core::error::{Error, Result};
use crate::core::noise::NoiseLog;
use crate::core::scheme::{self, Context, Messages, Request, only};
use crate::core::seed;
use crate::core::wire::FrameBuilder;
use crate::core::workload::Shape;

/// One index asked for, with the secret of its query.
pub struct Query {
    index: u64,
    key: RlweKey<u32>,
}

/// The public seed's expansions.
pub struct Client {
    params: Set,
    layout: Layout,
    error: DiscreteGaussian,
    public: Option<Public>,
    /// Where answers are decrypted.
    opener: SplitRing,
}

impl Client {
    pub(super) fn new(params: &Set, shape: Shape) -> Result<Self> {
        Ok(Self {
            layout: Layout::choose(params, shape)?,
            params: params.clone(),
            error: params.rlwe.error.sampler()?,
            public: None,
            opener: SplitRing::new(params.rlwe.degree)?,
        })
    }
}

impl scheme::Client for Client {
    type Server = Server;
    type Query = Query;

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let seed = seed::received(NAME, &messages)?;
        self.public = Some(Public::new(&self.params, &self.layout, seed, context.kernel)?);
        Ok(())
    }

    /// For each index, under a fresh secret: the unit vector of its row, its point, packing keys (Algorithm 8).
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let Self { params, layout, error, .. } = self;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let rng = &mut context.rng;
        let (key_bytes, query_bytes) = (public.packing.key_bytes(), layout.query_bytes(params));
        let variables = if layout.sends_point(params) { layout.variables as usize } else { 0 };
        let point_bytes = variables * public.point_bytes();
        let mut keys = FrameBuilder::new(key_bytes * indices.len());
        let mut query = FrameBuilder::new(query_bytes * indices.len());
        let mut points = FrameBuilder::new(point_bytes * indices.len());
        let mut asked = Vec::with_capacity(indices.len());
        for (k, &index) in indices.iter().enumerate() {
            let key = RlweKey::sample(&public.ring, &params.rlwe.secret.distribution(), rng)?;
            let place = layout.place(layout.find(index).0);
            let body = &mut query.payload_mut()[k * query_bytes..][..query_bytes];
            let message = (place.row, params.rlwe.scale(params.folding.plain_modulus.into()));
            match params.query_coefficients {
                QueryCoefficients::Bytes => {
                    public.queries.body(&key, message, error, params.rlwe.coefficient_bytes(), rng, body);
                }
                QueryCoefficients::Bits => body.copy_from_slice(&public.queries.packed(&key, message, error, rng)),
            }
            let (masks, mut digits) = (&mut public.point_masks(), place.point);
            for variable in 0..variables {
                let exponent = params.folding.interpolation.exponent(layout.degree, layout.side, digits % layout.side);
                digits /= layout.side;
                let monomial: Poly<u32, _> = public.ring.monomial_ntt(exponent);
                let point = SeededRgsw::new(&key, &monomial, &public.evaluation, error, masks, rng)?;
                let (start, bytes) = (k * point_bytes + variable * public.point_bytes(), public.point_bytes());
                points.payload_mut()[start..][..bytes].copy_from_slice(&public.point_bodies(&point));
            }
            let packing_keys = public.packing.keys(&key, &public.masks, error, rng)?;
            keys.payload_mut()[k * key_bytes..][..key_bytes].copy_from_slice(&packing_keys.to_bytes(&public.packing));
            asked.push(Query { index, key });
        }
        let mut messages = vec![("keys", keys.finish(NAME, "keys")), ("query", query.finish(NAME, "query"))];
        if point_bytes > 0 {
            messages.push(("point", points.finish(NAME, "point")));
        }
        Ok((asked, messages))
    }

    fn extract(&self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let mut records = Vec::with_capacity(asked.len());
        for (query, ciphertexts) in asked.iter().zip(self.ciphertexts(answer, asked.len())?) {
            records.push(self.record(query, &ciphertexts)?);
        }
        Ok(records)
    }

    /// Every coefficient of every ciphertext: one error each, after the switch.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let (layout, switch, p) = (&self.layout, self.params.switch, u64::from(self.params.folding.plain_modulus));
        for (query, ciphertexts) in asked.iter().zip(self.ciphertexts(answer, asked.len())?) {
            let opener = self.opener.key(&query.key)?;
            let place = layout.place(layout.find(query.index).0);
            let mut of_query = NoiseLog::default();
            for (i, ciphertext) in ciphertexts.iter().enumerate() {
                let (group, plane) = (i / layout.planes, i % layout.planes);
                let messages = server.values(Place { group, ..place }, plane, context.kernel)?;
                let messages = messages.into_iter().map(i64::from);
                let (threshold, errors) = switch.errors(&opener, ciphertext, p, messages)?;
                of_query.add("switch", threshold, errors);
            }
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}

impl Client {
    /// The ciphertexts of each query's answer.
    fn ciphertexts(&self, answer: &Messages, queries: usize) -> Result<Vec<Vec<SplitRlwe>>> {
        let (each, count) = (self.layout.ciphertext_bytes(&self.params), self.layout.ciphertexts());
        let message = only("answer", answer)?.clone().check(NAME, "answer", (each * count * queries) as u64)?;
        let (degree, kept) = (self.layout.degree, self.layout.kept(&self.params));
        let parse = |bytes| self.params.switch.read(degree, kept, bytes);
        let answers = message.payload().chunks_exact(each * count);
        answers.map(|answer| answer.chunks_exact(each).map(parse).collect()).collect()
    }

    /// The record in the planes of its group.
    fn record(&self, query: &Query, ciphertexts: &[SplitRlwe]) -> Result<Record> {
        let layout = &self.layout;
        let (item, first_bit) = layout.find(query.index);
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let opener = self.opener.key(&query.key)?;
        let record_bits = layout.shape.record_bits as usize;
        let mut record = vec![0u8; layout.shape.record_bytes()];
        let mut bytes = vec![0; layout.plane_bits().div_ceil(8)];
        let planes = &ciphertexts[layout.place(item).group * layout.planes..][..layout.planes];
        for (plane, ciphertext) in planes.iter().enumerate() {
            let residues = opener.decode(ciphertext, self.params.folding.plain_modulus.into())?;
            let residues: Vec<u32> = residues[..layout.used].iter().map(|residue| *residue as u32).collect();
            layout.code.decode(&residues, &mut bytes);
            public.whitening.apply(item, plane, &mut bytes);
            let start = plane * layout.plane_bits();
            for bit in 0..(record_bits - start).min(layout.plane_bits()) {
                let (from, to) = (first_bit + bit, start + bit);
                record[to / 8] |= (bytes[from / 8] >> (from % 8) & 1) << (to % 8);
            }
        }
        Ok(record)
    }
}
