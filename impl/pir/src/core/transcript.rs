//! The messages of a run, each with name, direction, phase and bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::description::Direction;
use crate::core::error::Result;
use crate::core::protocol::Messages;
use crate::core::wire::Frame;

/// One message that travelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of the message.
    pub name: String,
    /// Which way it travelled.
    pub direction: Direction,
    /// The phase in which it was sent.
    pub phase: String,
    /// Bytes a paper's formula counts.
    pub payload_bytes: u64,
    /// Bytes with the header.
    pub frame_bytes: u64,
    /// Number of queries that it serves; null: any number.
    pub queries_served: Option<u64>,
}

/// The link between one client and the server, which delivers bytes and records them.
#[derive(Debug)]
pub struct Link {
    protocol: &'static str,
    entries: Vec<Entry>,
    digest: Option<Sha256>,
}

impl Link {
    /// A link with an empty transcript.
    pub fn new(protocol: &'static str) -> Self {
        Self { protocol, entries: Vec::new(), digest: None }
    }

    /// A link that also hashes every payload: runs with one seed sent the same bytes if their digests are equal.
    pub fn digesting(protocol: &'static str) -> Self {
        Self { digest: Some(Sha256::new()), ..Self::new(protocol) }
    }

    /// Delivers and records `frame`; the receiver gets it only if its header and checksum are right.
    pub fn carry(
        &mut self,
        frame: Frame,
        name: &str,
        direction: Direction,
        phase: &str,
        queries_served: Option<u64>,
    ) -> Result<Frame> {
        let payload_bytes = frame.payload().len() as u64;
        if let Some(digest) = &mut self.digest {
            digest.update(frame.payload());
        }
        self.entries.push(Entry {
            name: name.into(),
            direction,
            phase: phase.into(),
            payload_bytes,
            frame_bytes: frame.bytes().len() as u64,
            queries_served,
        });
        frame.check(self.protocol, name, payload_bytes)
    }

    /// Delivers messages in order.
    pub fn carry_all(
        &mut self,
        messages: Messages,
        direction: Direction,
        phase: &str,
        queries_served: Option<u64>,
    ) -> Result<Messages> {
        let mut carry = |(name, frame)| Ok((name, self.carry(frame, name, direction, phase, queries_served)?));
        messages.into_iter().map(&mut carry).collect()
    }

    /// Delivers one part of what travels in many messages: all parts are one entry of the transcript.
    pub fn carry_part(&mut self, messages: Messages, part: u64, queries_served: u64) -> Result<Messages> {
        let first = self.entries.len();
        let carried = self.carry_all(messages, Direction::Download, "offline", Some(queries_served))?;
        if part > 0 {
            for entry in self.entries.split_off(first) {
                if let Some(whole) = self.entries.iter_mut().rev().find(|whole| whole.name == entry.name) {
                    whole.payload_bytes += entry.payload_bytes;
                    whole.frame_bytes += entry.frame_bytes;
                }
            }
        }
        Ok(carried)
    }

    /// All messages so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// SHA-256 of all payloads so far in order, hexadecimal; `None` if the link does not hash.
    pub fn digest(&self) -> Option<String> {
        self.digest.as_ref().map(|digest| crate::core::set_file::hex(&digest.clone().finalize()))
    }
}
