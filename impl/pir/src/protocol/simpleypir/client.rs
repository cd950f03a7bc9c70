//! SimpleYPIR's client: no state between queries but the public seed, a fresh secret for every index.

use std::sync::Arc;

use lattice::SplitKey;
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, Ring, Seed};

use super::layout::Layout;
use super::server::{Public, Server};
use super::{Set, SimpleYpir};
use crate::core::{Context, NoiseLog, Record, Request, Result, Shape};
use crate::parts::ring_matrix::{Asks, Query, RingClient, Rlwe};

impl Asks for SimpleYpir {
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
        let bytes = client.set.query_coefficient_bytes * client.layout.rows;
        vec![("keys", public.packing.key_bytes()), ("query", bytes)]
    }

    /// The item's row under the public masks, packing keys.
    fn ask(
        RingClient { set, layout, error, .. }: &RingClient<Self>,
        public: &Public,
        query: &Query,
        rng: &mut ChaCha20Rng,
        parts: &mut [&mut [u8]],
    ) -> Result<()> {
        let message = (layout.cells().place(query.index).0, set.scale());
        public.queries.body(&query.key, message, error, set.query_coefficient_bytes, rng, parts[1]);
        let keys = public.packing.keys(&query.key, &public.masks, error, rng)?;
        parts[0].copy_from_slice(&keys.to_bytes(&public.packing));
        Ok(())
    }

    fn answer_bytes(client: &RingClient<Self>) -> usize {
        ciphertext_bytes(client) * client.layout.elements
    }

    fn open(client: &RingClient<Self>, index: u64, opener: &SplitKey, answer: &[u8]) -> Result<Record> {
        let Set { switch, entry_bits, .. } = client.set;
        let (layout, degree) = (&client.layout, client.layout.degree);
        let (wanted, first) = layout.cells().entries_of(index);
        let mut entries = Vec::with_capacity(layout.columns());
        for (element, ciphertext) in answer.chunks_exact(ciphertext_bytes(client)).enumerate() {
            // Only the elements with the record are decrypted.
            let columns = element * degree..(element + 1) * degree;
            if columns.start < wanted.end && wanted.start < columns.end {
                entries.extend(opener.decode(&switch.read(degree, degree, ciphertext)?, 1 << entry_bits)?);
            } else {
                entries.resize(columns.end, 0);
            }
        }
        Ok(layout.cells().record(&entries[wanted], first))
    }

    /// Logs the errors of all entries of the requested item.
    fn errors(
        client: &RingClient<Self>,
        (index, opener, answer): (u64, &SplitKey, &[u8]),
        server: &Server,
        _: (&Request, usize),
        _: &Context,
        log: &mut NoiseLog,
    ) -> Result<()> {
        let (layout, switch) = (&client.layout, client.set.switch);
        let (row, ..) = layout.cells().place(index);
        for (element, ciphertext) in answer.chunks_exact(ciphertext_bytes(client)).enumerate() {
            let columns = element * layout.degree..(element + 1) * layout.degree;
            let entries = columns.map(|column| server.matrix.get(row, column).into());
            let ciphertext = switch.read(layout.degree, layout.degree, ciphertext)?;
            let (threshold, errors) = switch.errors(opener, &ciphertext, 1 << layout.entry_bits, entries)?;
            log.add("answer", threshold, errors);
        }
        Ok(())
    }
}

fn ciphertext_bytes(client: &RingClient<SimpleYpir>) -> usize {
    client.set.switch.bytes(client.layout.degree, client.layout.degree) as usize
}
