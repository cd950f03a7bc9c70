//! The wire format: a message is a frame of a 32-byte header and a payload.
//!
//! Header, little-endian: magic `PIRL`, version u16, epoch u16 (in a client's message: sequence), CRC-32 of the protocol's name,
//! CRC-32 of the message's name, payload length of 48 bits, number of the request u16, CRC-32 of the payload, CRC-32 of the 28 bytes
//! before. Payload bytes are what a paper's formula counts; frame bytes add the header. The epoch counts the database's updates, so that
//! an answer or a change of a hint is never combined with a hint of another version; an answer has the number of its request, so that it
//! is never decrypted as another's. A receiver parses real bytes and refuses whatever does not match.

use std::borrow::Cow;
use std::sync::Arc;

use crate::core::error::{Error, Result};

/// Bytes of a frame's header.
pub const HEADER_BYTES: u64 = 32;
const MAGIC: [u8; 4] = *b"PIRL";
const VERSION: u16 = 2;
/// Bits of a payload's length.
const LENGTH_BITS: u32 = 48;

/// A received (or ready to send) message. Clones share the bytes, as a broadcast would.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Frame bytes, 8-byte aligned so that 32-bit payload words can be read in place.
    words: Arc<Vec<u64>>,
    payload_bytes: usize,
}

/// A message under construction: the payload is written in place.
#[derive(Debug)]
pub struct FrameBuilder {
    words: Vec<u64>,
    payload_bytes: usize,
}

impl FrameBuilder {
    /// A message with a zeroed payload of `payload_bytes`.
    pub fn new(payload_bytes: usize) -> Self {
        Self { words: vec![0; (HEADER_BYTES as usize + payload_bytes).div_ceil(8)], payload_bytes }
    }

    /// A message with the payload of another one: its bytes themselves where no one else holds them, else a copy.
    pub fn reopen(frame: Frame) -> Self {
        let payload_bytes = frame.payload_bytes;
        let words = Arc::try_unwrap(frame.words).unwrap_or_else(|shared| (*shared).clone());
        Self { words, payload_bytes }
    }

    /// The payload's bytes.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let start = HEADER_BYTES as usize;
        &mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[start..start + self.payload_bytes]
    }

    /// The payload from byte `offset` (a multiple of 4) on as 32-bit words, which the caller fills in native order;
    /// it must call [`Self::words_to_wire`] before [`Self::finish`].
    pub fn words_mut(&mut self, offset: usize, count: usize) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.payload_mut()[offset..offset + 4 * count])
    }

    /// Writes `values` as little-endian words from byte `offset` (a multiple of 4) on.
    pub fn put_words(&mut self, offset: usize, values: &[u32]) {
        for (word, value) in self.words_mut(offset, values.len()).iter_mut().zip(values) {
            *word = value.to_le();
        }
    }

    /// Turns words filled in native order into wire order; nothing to do on little-endian machines.
    pub fn words_to_wire(&mut self, offset: usize, count: usize) {
        if cfg!(target_endian = "big") {
            self.words_mut(offset, count).iter_mut().for_each(|word| *word = word.to_le());
        }
    }

    /// Completes the message with the names of its protocol and its own.
    pub fn finish(mut self, protocol: &str, message: &str) -> Frame {
        let payload_crc = crc32fast::hash(self.payload_mut());
        let mut header = [0u8; HEADER_BYTES as usize];
        header[..4].copy_from_slice(&MAGIC);
        header[4..6].copy_from_slice(&VERSION.to_le_bytes());
        header[8..12].copy_from_slice(&crc32fast::hash(protocol.as_bytes()).to_le_bytes());
        header[12..16].copy_from_slice(&crc32fast::hash(message.as_bytes()).to_le_bytes());
        header[16..24].copy_from_slice(&(self.payload_bytes as u64 & ((1 << LENGTH_BITS) - 1)).to_le_bytes());
        header[24..28].copy_from_slice(&payload_crc.to_le_bytes());
        let header_crc = crc32fast::hash(&header[..28]);
        header[28..].copy_from_slice(&header_crc.to_le_bytes());
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..header.len()].copy_from_slice(&header);
        Frame { words: Arc::new(self.words), payload_bytes: self.payload_bytes }
    }
}

impl Frame {
    /// A message with that payload and with the names of its protocol and its own.
    pub fn of(protocol: &str, message: &str, payload: &[u8]) -> Self {
        let mut builder = FrameBuilder::new(payload.len());
        builder.payload_mut().copy_from_slice(payload);
        builder.finish(protocol, message)
    }

    /// A frame without bytes, a placeholder while a message is being changed.
    pub(crate) fn empty() -> Self {
        Self { words: Arc::new(vec![0; (HEADER_BYTES / 8) as usize]), payload_bytes: 0 }
    }

    /// The whole frame as it travels.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..HEADER_BYTES as usize + self.payload_bytes]
    }

    /// The payload.
    pub fn payload(&self) -> &[u8] {
        &self.bytes()[HEADER_BYTES as usize..]
    }

    /// The number of the request that the message belongs to, modulo 2^16; zero without one.
    pub fn number(&self) -> u16 {
        u16::from_le_bytes([self.bytes()[22], self.bytes()[23]])
    }

    /// The same message with the number of a request.
    pub fn numbered(self, number: u16) -> Self {
        self.with(22, number)
    }

    /// The same message with the number of updates (modulo 2^16) the server's database has seen.
    pub fn at_epoch(self, epoch: u16) -> Self {
        self.with(6, epoch)
    }

    /// The same message of a client with the number of its first query.
    pub fn in_sequence(self, number: u16) -> Self {
        self.with(6, number)
    }

    fn with(mut self, place: usize, number: u16) -> Self {
        let words = Arc::make_mut(&mut self.words);
        let header = &mut bytemuck::cast_slice_mut::<u64, u8>(words)[..HEADER_BYTES as usize];
        header[place..place + 2].copy_from_slice(&number.to_le_bytes());
        let header_crc = crc32fast::hash(&header[..28]);
        header[28..].copy_from_slice(&header_crc.to_le_bytes());
        self
    }

    /// The number of updates (modulo 2^16) the server's database had seen.
    pub fn epoch(&self) -> u16 {
        u16::from_le_bytes([self.bytes()[6], self.bytes()[7]])
    }

    /// The number (modulo 2^16) of a client's first query in the message, where queries of one seed are counted.
    pub fn sequence(&self) -> u16 {
        self.epoch()
    }

    /// Checks that the message belongs to the version of the database that the receiver knows.
    pub fn check_epoch(&self, message: &str, epoch: u16) -> Result<()> {
        if self.epoch() == epoch {
            return Ok(());
        }
        let problem = format!(
            "it belongs to version {} of the database, the client's hint to version {epoch}; fetch the missing updates or the hint.",
            self.epoch()
        );
        Err(Error::message(message, problem))
    }

    /// Payload words as they stand on the wire (little-endian), from byte `offset` (a multiple of 4) on.
    ///
    /// Use [`u32::from_le`] on each, or [`Self::native_words`].
    pub fn wire_words(&self, offset: usize, count: usize) -> &[u32] {
        bytemuck::cast_slice(&self.payload()[offset..offset + 4 * count])
    }

    /// Payload words in native order, in place where the machine is little-endian.
    pub fn native_words(&self, offset: usize, count: usize) -> Cow<'_, [u32]> {
        let words = self.wire_words(offset, count);
        if cfg!(target_endian = "little") {
            Cow::Borrowed(words)
        } else {
            Cow::Owned(words.iter().map(|&word| u32::from_le(word)).collect())
        }
    }

    /// A copy of payload words in native order.
    pub fn words(&self, offset: usize, count: usize) -> Vec<u32> {
        self.native_words(offset, count).into_owned()
    }

    /// Checks a frame that arrived: header, names, length and checksum.
    pub fn check(self, protocol: &str, message: &str, payload_bytes: u64) -> Result<Self> {
        check_header(self.bytes(), protocol, message)?;
        if self.payload_bytes as u64 != payload_bytes {
            return Err(Error::message(
                message,
                format!(
                    "its payload has {} bytes, expected {payload_bytes}; the sender uses other parameters.",
                    self.payload_bytes
                ),
            ));
        }
        Ok(self)
    }

    /// Parses bytes from a transport. Copies them once into aligned storage.
    pub fn parse(bytes: &[u8], protocol: &str, message: &str) -> Result<Self> {
        check_header(bytes, protocol, message)?;
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Ok(Self { words: Arc::new(words), payload_bytes: bytes.len() - HEADER_BYTES as usize })
    }
}

fn check_header(bytes: &[u8], protocol: &str, message: &str) -> Result<()> {
    let refuse = |problem: String| Err(Error::message(message, problem));
    let Some((header, payload)) = bytes.split_at_checked(HEADER_BYTES as usize) else {
        return refuse(format!(
            "truncated: {} bytes, a frame has at least {HEADER_BYTES}. Send it again.",
            bytes.len()
        ));
    };
    let u32_at = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if header[..4] != MAGIC {
        return refuse("not a Pirlab message (wrong magic). Check what was sent.".into());
    }
    if u32_at(28) != crc32fast::hash(&header[..28]) {
        return refuse("its header is corrupted (checksum differs). Send it again.".into());
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != VERSION {
        return refuse(format!("wire format version {version}, this program speaks {VERSION}. Use the same release."));
    }
    if u32_at(8) != crc32fast::hash(protocol.as_bytes()) {
        return refuse(format!("it belongs to another protocol than {protocol}."));
    }
    if u32_at(12) != crc32fast::hash(message.as_bytes()) {
        return refuse("a different message arrived.".into());
    }
    let announced = (u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32) & ((1 << LENGTH_BITS) - 1);
    if announced != payload.len() as u64 {
        return refuse(format!(
            "truncated or overlong: {} payload bytes, {announced} announced. Send it again.",
            payload.len()
        ));
    }
    if u32_at(24) != crc32fast::hash(payload) {
        return refuse("its payload is corrupted (checksum differs). Send it again.".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
