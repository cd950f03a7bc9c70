//! Bad messages, made of honest ones.

use rand::Rng;
use rand::seq::IndexedRandom;

use crate::core::protocol::{Messages, Request};
use crate::core::wire::{Frame, HEADER_BYTES};

/// Payload bytes of a bad message that costs little.
const SHORT: usize = 4096;

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Bytes of the frame, or its length, without a new checksum: the wire refuses them.
    Corrupted,
    /// A short payload.
    Cut,
    /// A message that is missing, or there under another name.
    Missing,
    /// A payload that is a little too long or too short, or twice as long.
    Resized,
    /// A message that is there twice.
    Doubled,
    /// A message of another name or protocol by its header.
    Renamed,
    /// Another number of queries, client, request or version.
    Renumbered,
    /// Bytes of the payload, of the right length.
    Altered,
}

/// All of them, in their order.
pub const ALL: [Change; 8] = [
    Change::Corrupted,
    Change::Cut,
    Change::Missing,
    Change::Resized,
    Change::Doubled,
    Change::Renamed,
    Change::Renumbered,
    Change::Altered,
];
/// That many of them, the first, cost no copy of a long payload and are refused before anything is computed.
pub const EARLY: usize = 3;

/// A frame with the marks of another one.
fn like(frame: &Frame, protocol: &str, name: &str, payload: &[u8]) -> Frame {
    Frame::of(protocol, name, payload).numbered(frame.number()).at_epoch(frame.epoch())
}

/// Corrupts one of the messages without a new checksum; the wire must refuse it. A `short` one has the first part of a long payload.
pub fn corrupt(mut messages: Messages, protocol: &str, short: bool, rng: &mut impl Rng) {
    let (name, mut frame) = messages.swap_remove(rng.random_range(0..messages.len()));
    if short && frame.payload().len() > SHORT {
        frame = like(&frame, protocol, name, &frame.payload()[..SHORT]);
    }
    let mut bytes = frame.bytes().to_vec();
    match rng.random_range(0..3) {
        0 => bytes.truncate(rng.random_range(0..bytes.len())),
        1 => bytes.resize(bytes.len() + rng.random_range(1..64), rng.random()),
        _ => {
            for _ in 0..rng.random_range(1..8) {
                let part = if rng.random() { HEADER_BYTES as usize } else { bytes.len() };
                let place = rng.random_range(0..part);
                bytes[place] = rng.random();
            }
        }
    }
    assert!(bytes == frame.bytes() || Frame::parse(&bytes, protocol, name).is_err());
}

/// Makes a bad message of an honest one, or of the numbers of the `request` that it belongs to.
pub fn changed(
    change: Change,
    protocol: &str,
    messages: &mut Messages,
    request: Option<&mut Request>,
    rng: &mut impl Rng,
) {
    let place = rng.random_range(0..messages.len());
    let (name, frame) = messages[place].clone();
    let payload = frame.payload();
    messages[place].1 = match change {
        // The wire refuses it, before a party sees it.
        Change::Corrupted => return,
        Change::Cut => like(&frame, protocol, name, &payload[..rng.random_range(0..payload.len().min(SHORT))]),
        Change::Missing if rng.random() => return drop(messages.remove(place)),
        Change::Missing => {
            let names = ["query", "answer", "seed", "hint", "hint_delta", "keys", "database"];
            let others: Vec<&'static str> = names.into_iter().filter(|other| *other != name).collect();
            messages[place].0 = others[rng.random_range(0..others.len())];
            return;
        }
        Change::Resized => {
            let (length, mut payload) = (payload.len() as i64, payload.to_vec());
            let other = [length - 1, length + 1, length + 8, 2 * length, rng.random_range(0..=length)];
            payload.resize(*other.choose(rng).unwrap() as usize, rng.random());
            like(&frame, protocol, name, &payload)
        }
        Change::Doubled => return messages.push((name, frame)),
        Change::Altered => like(&frame, protocol, name, &altered(payload.to_vec(), rng)),
        Change::Renamed if rng.random() => like(&frame, protocol, "other", payload),
        Change::Renamed => like(&frame, "other", name, payload),
        Change::Renumbered => match (rng.random_range(0..4), request) {
            (0, Some(request)) => {
                request.queries = [0, 2, 3, 4096, 4097, u64::MAX][rng.random_range(0..6)];
                return;
            }
            (1, Some(request)) => {
                request.session = [0, 2, u64::MAX, rng.random()][rng.random_range(0..4)];
                return;
            }
            (0 | 2, _) => frame.numbered(rng.random()),
            _ => frame.at_epoch(rng.random()),
        },
    };
}

/// A payload of the same length: random, of one byte, or with some bytes changed.
fn altered(mut payload: Vec<u8>, rng: &mut impl Rng) -> Vec<u8> {
    let length = payload.len();
    match rng.random_range(0..4) {
        0 => rng.fill(&mut payload[..]),
        1 => payload.fill([0, 0xff, 0x80, 0x7f][rng.random_range(0..4)]),
        _ => {
            for _ in 0..rng.random_range(1..9) {
                let (from, value) = (rng.random_range(0..=length), rng.random());
                let to = length.min(from + [1, 2, 4, 8][rng.random_range(0..4)]);
                payload[from..to].fill(value);
            }
        }
    }
    payload
}
