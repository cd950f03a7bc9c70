//! InsPIRe's client: no state between queries but the public seed, a fresh secret for every index.

use std::sync::Arc;

use lattice::wire::Writer;
use lattice::{SeededRgsw, SplitKey};
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, Poly, Ring, Seed};

use super::Inspire;
use super::layout::{Layout, Place};
use super::public::Public;
use super::server::Server;
use super::set::{QueryCoefficients, Set};
use crate::core::{Context, NoiseLog, Record, Request, Result, Shape, put_bits};
use crate::parts::ring_matrix::{Asks, Query, RingClient, Rlwe};

impl Asks for Inspire {
    type Layout = Layout;
    type Public = Public;

    fn layout(set: &Set, shape: Shape) -> Result<Layout> {
        Layout::choose(set, shape)
    }

    fn expand(set: &Set, layout: &Layout, seed: Seed, kernel: Kernel) -> Result<Public> {
        Public::new(set, layout, seed, kernel)
    }

    fn rlwe(set: &Set) -> &Rlwe {
        &set.rlwe
    }

    fn ring(public: &Public) -> &Arc<Ring<u32>> {
        &public.ring
    }

    fn parts(RingClient { set, layout, .. }: &RingClient<Self>, public: &Public) -> Vec<(&'static str, usize)> {
        let points = if layout.sends_point(set) { layout.variables as usize * public.point_bytes() } else { 0 };
        vec![("keys", public.packing.key_bytes()), ("query", layout.query_bytes(set)), ("point", points)]
    }

    /// The unit vector of the record's row, its point, packing keys (Algorithm 8).
    fn ask(
        RingClient { set, layout, error, .. }: &RingClient<Self>,
        public: &Public,
        Query { index, key }: &Query,
        rng: &mut ChaCha20Rng,
        parts: &mut [&mut [u8]],
    ) -> Result<()> {
        let place = layout.place(layout.find(*index).0);
        let message = (place.row, set.rlwe.scale(set.folding.plain_modulus.into()));
        match set.query_coefficients {
            QueryCoefficients::Bytes => {
                public.queries.body(key, message, error, set.rlwe.coefficient_bytes(), rng, parts[1]);
            }
            QueryCoefficients::Bits => {
                let mut writer = Writer::with_capacity(parts[1].len());
                public.queries.pack(key, message, error, rng, &mut writer);
                parts[1].copy_from_slice(&writer.finish());
            }
        }
        if let Some(points) = parts.get_mut(2) {
            let (masks, mut digits) = (&mut public.point_masks(), place.point);
            for out in points.chunks_exact_mut(public.point_bytes()) {
                let exponent = set.folding.interpolation.exponent(layout.degree, layout.side, digits % layout.side);
                digits /= layout.side;
                let monomial: Poly<u32, _> = public.ring.monomial_ntt(exponent);
                let point = SeededRgsw::new(key, &monomial, &public.evaluation, error, masks, rng)?;
                out.copy_from_slice(&public.point_bodies(&point));
            }
        }
        let keys = public.packing.keys(key, &public.masks, error, rng)?;
        parts[0].copy_from_slice(&keys.to_bytes(&public.packing));
        Ok(())
    }

    fn answer_bytes(RingClient { set, layout, .. }: &RingClient<Self>) -> usize {
        layout.ciphertext_bytes(set) * layout.ciphertexts()
    }

    /// The record, decoded from the planes of its group.
    fn open(client: &RingClient<Self>, index: u64, opener: &SplitKey, answer: &[u8]) -> Result<Record> {
        let (set, layout, public) = (&client.set, &client.layout, client.public()?);
        let (item, first_bit) = layout.find(index);
        let record_bits = layout.shape.record_bits as usize;
        let mut record = vec![0u8; layout.shape.record_bytes()];
        let mut bytes = vec![0; layout.plane_bits().div_ceil(8)];
        let planes = answer.chunks_exact(layout.ciphertext_bytes(set)).skip(layout.place(item).group * layout.planes);
        for (plane, ciphertext) in planes.take(layout.planes).enumerate() {
            let ciphertext = set.switch.read(layout.degree, layout.kept(set), ciphertext)?;
            let residues = opener.decode(&ciphertext, set.folding.plain_modulus.into())?;
            let residues: Vec<u32> = residues[..layout.used].iter().map(|residue| *residue as u32).collect();
            layout.code.decode(&residues, &mut bytes);
            public.whitening.apply(item, plane, &mut bytes);
            let start = plane * layout.plane_bits();
            let count = (record_bits - start).min(layout.plane_bits());
            put_bits(&bytes, first_bit as u64, count as u64, &mut record, start as u64);
        }
        Ok(record)
    }

    /// Logs one error for every coefficient of every ciphertext, after the switch.
    fn errors(
        RingClient { set, layout, .. }: &RingClient<Self>,
        (index, opener, answer): (u64, &SplitKey, &[u8]),
        server: &Server,
        _: (&Request, usize),
        context: &Context,
        log: &mut NoiseLog,
    ) -> Result<()> {
        let (switch, p) = (set.switch, set.folding.plain_modulus.into());
        let place = layout.place(layout.find(index).0);
        for (i, ciphertext) in answer.chunks_exact(layout.ciphertext_bytes(set)).enumerate() {
            let (group, plane) = (i / layout.planes, i % layout.planes);
            let messages = server.encoded.values(Place { group, ..place }, plane, context.kernel)?;
            let ciphertext = switch.read(layout.degree, layout.kept(set), ciphertext)?;
            let (threshold, errors) = switch.errors(opener, &ciphertext, p, messages.into_iter().map(i64::from))?;
            log.add("switch", threshold, errors);
        }
        Ok(())
    }
}
