//! InsPIRe^(2)'s client: no state between queries but the public seed, a fresh secret for every index.

use std::sync::Arc;

use lattice::wire::Writer;
use lattice::{SplitKey, SplitRlwe};
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, Ring, Seed};

use super::layout::Layout;
use super::public::Public;
use super::second::digits_of;
use super::server::Server;
use super::{Inspire2, Set};
use crate::core::{Context, NoiseLog, Record, Request, Result, Shape};
use crate::parts::digits::values_of;
use crate::parts::ring_matrix::{Asks, Query, RingClient, Rlwe, Switch};

impl Asks for Inspire2 {
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

    fn parts(client: &RingClient<Self>, public: &Public) -> Vec<(&'static str, usize)> {
        vec![("keys", public.key_bytes()), ("query", client.layout.query_bytes(&client.set))]
    }

    /// Row and column of the record's cell under the public masks of both layers, packing keys.
    fn ask(
        RingClient { set, layout, error, .. }: &RingClient<Self>,
        public: &Public,
        Query { index, key }: &Query,
        rng: &mut ChaCha20Rng,
        parts: &mut [&mut [u8]],
    ) -> Result<()> {
        let (row, column, _) = layout.cells().place(*index);
        let mut writer = Writer::with_capacity(parts[1].len());
        for (masks, at) in [(&public.first, row), (&public.second, layout.second_index(column))] {
            masks.pack(key, (at, set.scale()), error, rng, &mut writer);
        }
        parts[1].copy_from_slice(&writer.finish());
        parts[0].copy_from_slice(&public.keys(key, error, rng)?);
        Ok(())
    }

    fn answer_bytes(client: &RingClient<Self>) -> usize {
        client.layout.answer_bytes(&client.set)
    }

    fn open(client: &RingClient<Self>, index: u64, opener: &SplitKey, answer: &[u8]) -> Result<Record> {
        let RingClient { set, layout, .. } = client;
        let mut entries = Vec::with_capacity(layout.entries());
        for answer in answer.chunks_exact(layout.copy_bytes(set)) {
            let first = first_layer(client, opener, answer)?;
            entries.extend(opener.decode(&first, 1 << set.entry_bits)?);
        }
        Ok(layout.cells().record(&entries, layout.cells().place(index).2))
    }

    /// Logs the errors of every digit of the requested cells, and of the entries made of these digits.
    fn errors(
        client: &RingClient<Self>,
        (index, opener, answer): (u64, &SplitKey, &[u8]),
        server: &Server,
        request: (&Request, usize),
        context: &Context,
        log: &mut NoiseLog,
    ) -> Result<()> {
        let RingClient { set, layout, .. } = client;
        let (p, q1) = (1u64 << set.entry_bits, u64::from(set.switched_modulus));
        let (row, column, _) = layout.cells().place(index);
        let digits = server.second_messages(request, column, context)?;
        let copies = answer.chunks_exact(layout.copy_bytes(set)).zip(digits);
        for (copy, (answer, digits)) in copies.enumerate() {
            let mut digits = digits.into_iter();
            for part in ciphertexts(client, answer) {
                let (ciphertext, kept) = part?;
                let messages: Vec<i64> = digits.by_ref().take(kept).map(i64::from).collect();
                let (threshold, errors) = set.switch.errors(opener, &ciphertext, p, messages)?;
                log.add("second_layer", threshold, errors);
            }
            let first = first_layer(client, opener, answer)?;
            let entries = server.first_entries(row, column, copy).map(i64::from);
            let switched = Switch { mask_modulus: q1, body_modulus: q1 };
            let (threshold, errors) = switched.errors(opener, &first, p, entries)?;
            log.add("first_layer", threshold, errors);
        }
        Ok(())
    }
}

/// The ciphertexts of one copy of a cell, each with the number of its coefficients that are digits.
fn ciphertexts(
    RingClient { set, layout, .. }: &RingClient<Inspire2>,
    answer: &[u8],
) -> impl Iterator<Item = Result<(SplitRlwe, usize)>> {
    let (switch, degree) = (set.switch, layout.ring_degree);
    let mut rest = answer;
    layout.ciphertexts(set).into_iter().map(move |(coefficients, kept)| {
        let (bytes, others) = rest.split_at(switch.bytes(degree, coefficients) as usize);
        rest = others;
        Ok((switch.read(degree, coefficients, bytes)?, kept))
    })
}

/// The first layer's ciphertext of one copy of a cell, composed of the second layer's digits.
fn first_layer(client: &RingClient<Inspire2>, opener: &SplitKey, answer: &[u8]) -> Result<SplitRlwe> {
    let RingClient { set, layout, .. } = client;
    let (p, degree) = (1u64 << set.entry_bits, layout.ring_degree);
    let mut digits = Vec::with_capacity(layout.mask_digits + layout.body_digits);
    for part in ciphertexts(client, answer) {
        let (ciphertext, kept) = part?;
        digits.extend(opener.decode(&ciphertext, p)?.into_iter().take(kept));
    }
    let (masks, bodies) = digits.split_at(layout.mask_digits);
    let (q1, bits) = (u64::from(set.switched_modulus), set.value_bits());
    let mut writer = Writer::with_capacity(SplitRlwe::wire_bytes(degree, layout.gamma, q1, q1));
    for (digits, count) in [(masks, degree), (bodies, layout.gamma)] {
        // Wrong digits may give values of q1 or more: reducing keeps the (wrong) record well formed.
        let values = values_of(digits_of(set), digits, count);
        writer.write_all(&values.iter().map(|value| value % set.switched_modulus).collect::<Vec<_>>(), bits);
    }
    SplitRlwe::from_bytes((degree, layout.gamma), (q1, q1), &writer.finish()).map_err(Into::into)
}
