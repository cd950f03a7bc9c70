//! The encoding of records as matrix entries, and its inverse.
//!
//! Narrow records (at most floor(log2 p) bits) share an entry: k = floor(floor(log2 p) / w) records, bit-packed. Wide
//! records become base-p digits, one entry each, least significant first. Records longer than [`BLOCK_BITS`] are cut
//! into blocks of that length, each with its own digits: conversion then takes linear time, and a block costs at most one
//! additional digit.

use super::radix::Radix;
use crate::core::Record;

/// Bits converted to digits at a time.
pub const BLOCK_BITS: u64 = 2048;

/// The encoding of records of one length under one plaintext modulus.
#[derive(Clone, Copy, Debug)]
pub struct RecordCode {
    record_bits: u64,
    plain_modulus: u32,
    /// Records in one entry; zero where a record takes several entries.
    packed: u64,
    radix: Radix,
}

impl RecordCode {
    /// The encoding of records of `record_bits` bits in entries modulo `plain_modulus`.
    pub fn new(record_bits: u64, plain_modulus: u32) -> Self {
        let packed = u64::from(plain_modulus.ilog2()) / record_bits;
        Self { record_bits, plain_modulus, packed, radix: Radix::new(plain_modulus) }
    }

    /// Plaintext modulus p.
    pub fn plain_modulus(&self) -> u32 {
        self.plain_modulus
    }

    /// Records in one entry, at least one.
    pub fn records_per_entry(&self) -> u64 {
        self.packed.max(1)
    }

    /// Whether records are packed into entries bit by bit (else an entry is a digit).
    pub fn is_packed(&self) -> bool {
        self.packed > 0
    }

    /// Whether encoding takes divisions: entries are digits, and p is no power of two.
    pub fn divides(&self) -> bool {
        !self.is_packed() && self.radix.divides()
    }

    /// Entries of one record, at least one.
    pub fn entries_per_record(&self) -> u64 {
        if self.is_packed() {
            return 1;
        }
        let whole = self.record_bits / BLOCK_BITS;
        whole * self.radix.digits(BLOCK_BITS) + self.radix.digits(self.record_bits % BLOCK_BITS)
    }

    /// Entries of `records` records.
    pub fn entries(&self, records: u64) -> u64 {
        records.div_ceil(self.records_per_entry()) * self.entries_per_record()
    }

    /// Bits that hold every entry.
    pub fn entry_bits(&self) -> u32 {
        if self.is_packed() {
            (self.packed * self.record_bits) as u32
        } else {
            u32::BITS - (self.plain_modulus - 1).leading_zeros()
        }
    }

    /// The number that centres a stored entry when subtracted: half the range of entries, hence the largest absolute value of a
    /// centred entry.
    pub fn offset(&self) -> u16 {
        if self.is_packed() { 1 << (self.entry_bits() - 1) } else { (self.plain_modulus / 2) as u16 }
    }

    /// The blocks of a record: first bit, bits, first digit, digits.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64, usize, usize)> + '_ {
        let full = self.radix.digits(BLOCK_BITS) as usize;
        (0..self.record_bits.div_ceil(BLOCK_BITS)).map(move |block| {
            let first = block * BLOCK_BITS;
            let bits = BLOCK_BITS.min(self.record_bits - first);
            (first, bits, block as usize * full, self.radix.digits(bits) as usize)
        })
    }

    /// Writes the digits of a wide record; `digits.len()` is [`Self::entries_per_record`].
    pub fn digits(&self, record: &[u8], digits: &mut [u16]) {
        for (first, bits, first_digit, count) in self.blocks() {
            let bytes = &record[(first / 8) as usize..(first + bits).div_ceil(8) as usize];
            self.block_digits(bytes, &mut digits[first_digit..first_digit + count]);
        }
    }

    /// Digits of the bytes of one block.
    fn block_digits(&self, bytes: &[u8], digits: &mut [u16]) {
        let mut limbs = [0u64; (BLOCK_BITS / 64) as usize];
        let used = bytes.len().div_ceil(8);
        for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            *limb = u64::from_le_bytes(word);
        }
        self.radix.to_digits(&mut limbs[..used], digits);
    }

    /// The wide record with these digits.
    pub fn record(&self, digits: &[u16]) -> Record {
        let mut record = Vec::with_capacity(self.record_bits.div_ceil(8) as usize);
        for (_, bits, first_digit, count) in self.blocks() {
            let mut limbs = [0u64; (BLOCK_BITS / 64) as usize];
            let used = bits.div_ceil(64) as usize;
            self.radix.compose(&digits[first_digit..first_digit + count], &mut limbs[..used]);
            let bytes = limbs.iter().flat_map(|limb| limb.to_le_bytes()).take(bits.div_ceil(8) as usize);
            record.extend(bytes);
        }
        if !self.record_bits.is_multiple_of(8)
            && let Some(last) = record.last_mut()
        {
            // These bits are set only if digits were decrypted wrongly; an encoded record has none here.
            *last &= (1 << (self.record_bits % 8)) - 1;
        }
        record
    }

    /// The packed record in slot `slot` of an entry.
    pub fn unpack(&self, entry: u16, slot: u64) -> Record {
        let value = entry >> (slot * self.record_bits) & ((1u32 << self.record_bits) - 1) as u16;
        value.to_le_bytes()[..self.record_bits.div_ceil(8) as usize].to_vec()
    }

    /// `entry` with slot `slot` replaced by `record`.
    pub fn repack(&self, entry: u16, slot: u64, record: &[u8]) -> u16 {
        let mask = (((1u32 << self.record_bits) - 1) as u16) << (slot * self.record_bits);
        let value = record.iter().rev().fold(0u16, |value, &byte| value << 8 | u16::from(byte));
        entry & !mask | value << (slot * self.record_bits)
    }
}

#[cfg(test)]
mod tests;
