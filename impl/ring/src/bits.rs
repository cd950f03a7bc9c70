//! Little-endian bit streams of fixed-width entries: entry `i` of width `w` is bits `[i*w, i*w + w)`, bit `b` of the
//! stream being bit `b % 8` of byte `b / 8`.

/// Entries in a chunk: the columns one 512-bit register holds as 16-bit lanes.
pub const CHUNK: usize = 32;

/// Runs `$body` with the constant `$W` equal to the storage width `$width`, so that every width has its own code.
macro_rules! for_width {
    ($width:expr, $W:ident => $body:expr) => {
        for_width!(@arms $width, $W, $body, 1 2 3 4 5 6 7 8 9 10 12 16)
    };
    (@arms $width:expr, $W:ident, $body:expr, $($value:literal)*) => {
        match $width {
            $($value => { const $W: usize = $value; $body })*
            other => unreachable!("{other} is not a storage width"),
        }
    };
}
pub(crate) use for_width;

/// Little-endian 128-bit word at the start of `bytes` (at least 16 long).
#[inline(always)]
pub(crate) fn load128(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word.copy_from_slice(&bytes[..16]);
    u128::from_le_bytes(word)
}

/// The eight entries in the low `8 * W` bits of `stream`.
#[inline(always)]
pub(crate) fn unpack8<const W: usize>(stream: u128) -> [u16; 8] {
    let mask = ((1u32 << W) - 1) as u16;
    std::array::from_fn(|i| (stream >> (i * W)) as u16 & mask)
}

/// Four entries below `2^W` side by side in `4 * W` bits: pairs first, then pairs of pairs, all lanes of a word at once.
#[inline(always)]
fn pack4<const W: usize>(e: &[u16; 8], at: usize) -> u64 {
    let lanes = u64::from(e[at]) | u64::from(e[at + 1]) << 16 | u64::from(e[at + 2]) << 32 | u64::from(e[at + 3]) << 48;
    let pairs = (lanes & 0x0000_ffff_0000_ffff) | ((lanes & 0xffff_0000_ffff_0000) >> (16 - W));
    (pairs & 0xffff_ffff) | ((pairs >> 32) << (2 * W))
}

/// Writes one chunk of entries, each below `2^W`, into its `4 * W` bytes.
#[inline(always)]
pub(crate) fn pack_chunk<const W: usize>(entries: &[u16; CHUNK], out: &mut [u8]) {
    // Each group of eight takes exactly W bytes; a group is stored as 16 bytes and its surplus overwritten by the next.
    let mut stream = [0u8; 4 * 16 + 16];
    for group in 0..CHUNK / 8 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&entries[8 * group..8 * group + 8]);
        let word = u128::from(pack4::<W>(&eight, 0)) | u128::from(pack4::<W>(&eight, 4)) << (4 * W);
        stream[W * group..W * group + 16].copy_from_slice(&word.to_le_bytes());
    }
    out[..4 * W].copy_from_slice(&stream[..4 * W]);
}

/// Reads `out.len()` consecutive entries of `width` (1 to 16) bits, the first at bit `bit_offset`; bits beyond the end of
/// `bytes` read as zero. This is how a record becomes base-2^width digits.
///
/// # Panics
/// If `width` is outside 1..=16.
#[inline]
pub fn read_entries(bytes: &[u8], bit_offset: u64, width: u32, out: &mut [u16]) {
    assert!((1..=16).contains(&width), "entry width {width} is outside 1..=16");
    let mask = (1u64 << width) - 1;
    let mut bit = bit_offset;
    for entry in out {
        let start = usize::try_from(bit / 8).unwrap_or(usize::MAX);
        let mut word = [0u8; 4];
        if let Some(four) = bytes.get(start..).and_then(|tail| tail.first_chunk::<4>()) {
            word = *four;
        } else {
            let tail = bytes.get(start..).unwrap_or(&[]);
            word[..tail.len()].copy_from_slice(tail);
        }
        *entry = ((u64::from(u32::from_le_bytes(word)) >> (bit % 8)) & mask) as u16;
        bit += u64::from(width);
    }
}

/// Writes `entries` (each below `2^width`, `width` 1 to 16) as consecutive bits starting at `bit_offset`, leaving the
/// other bits of `bytes` as they are. This is how digits become a record again.
///
/// # Panics
/// If `width` is outside 1..=16 or the entries do not fit into `bytes`.
pub fn write_entries(bytes: &mut [u8], bit_offset: u64, width: u32, entries: &[u16]) {
    assert!((1..=16).contains(&width), "entry width {width} is outside 1..=16");
    let mut bit = bit_offset;
    for &entry in entries {
        let (start, shift) = ((bit / 8) as usize, bit % 8);
        let used = (shift as usize + width as usize).div_ceil(8);
        let mask = ((1u32 << width) - 1) << shift;
        let value = (u32::from(entry) << shift) & mask;
        for (i, byte) in bytes[start..start + used].iter_mut().enumerate() {
            *byte = (*byte & !((mask >> (8 * i)) as u8)) | (value >> (8 * i)) as u8;
        }
        bit += u64::from(width);
    }
}

/// Copies `4 * W` bytes of the bit stream `source`, from bit `shift` (below 8) on, to `out`; `source` holds at least
/// `4 * W + 8` bytes.
#[inline(always)]
pub(crate) fn copy_shifted<const W: usize>(source: &[u8], shift: u32, out: &mut [u8]) {
    let source = &source[..4 * W + 8];
    let out = &mut out[..4 * W];
    if shift == 0 {
        out.copy_from_slice(&source[..4 * W]);
        return;
    }
    for i in 0..W {
        let mut word = [0; 8];
        word.copy_from_slice(&source[4 * i..4 * i + 8]);
        out[4 * i..4 * i + 4].copy_from_slice(&((u64::from_le_bytes(word) >> shift) as u32).to_le_bytes());
    }
}
