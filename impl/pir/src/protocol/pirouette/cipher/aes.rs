//! AES-128 in the clear (FIPS 197): what the server evaluates, the client's key schedule, and what errors are measured against.
//!
//! Nothing here reads a table by a secret: S-boxes are computed, in time that does not depend on their input.

use zeroize::Zeroizing;

/// Number of rounds.
pub const ROUNDS: usize = 10;
/// Bytes of a block and of a key.
pub const BLOCK: usize = 16;
/// Bits of a block.
pub const BLOCK_BITS: usize = 8 * BLOCK;

/// A state, column by column: the byte of row r and column c is number 4 c + r.
pub type State = [u8; BLOCK];

/// The bits to which x^8 is reduced: x^4 + x^3 + x + 1.
const REDUCED: u8 = 0x1b;

const fn double(x: u8) -> u8 {
    (x << 1) ^ (REDUCED & 0u8.wrapping_sub(x >> 7))
}

const fn times(x: u8, y: u8) -> u8 {
    let (mut sum, mut power, mut bit) = (0, x, 0);
    while bit < 8 {
        sum ^= power & 0u8.wrapping_sub(y >> bit & 1);
        power = double(power);
        bit += 1;
    }
    sum
}

/// The S-box: x^254, which is 1/x, and an affine map.
pub const fn substitute(x: u8) -> u8 {
    let (mut inverse, mut power, mut bit) = (1, x, 1);
    // 254 = 2 + 4 + ... + 128.
    while bit < 8 {
        power = times(power, power);
        inverse = times(inverse, power);
        bit += 1;
    }
    inverse ^ inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4) ^ 0x63
}

/// The place before ShiftRows of the byte that ShiftRows brings to row `row` of column `column`.
pub const fn shifted_from(row: usize, column: usize) -> usize {
    4 * ((column + row) % 4) + row
}

/// The bits whose sum is bit `bit` of a byte after MixColumns: by the distance of their row from the byte's, downwards and around, and
/// number. A byte becomes 2 x + 3 y + z + w.
pub fn mixed_from(bit: usize) -> Vec<(usize, usize)> {
    let mut from = vec![(1, bit), (2, bit), (3, bit)];
    if bit > 0 {
        from.extend([(0, bit - 1), (1, bit - 1)]);
    }
    if REDUCED >> bit & 1 == 1 {
        from.extend([(0, 7), (1, 7)]);
    }
    from
}

/// The bytes that a keystream of `bytes` bytes needs after each round, that of number 0 before the first.
///
/// A keystream of up to four bytes is of those bytes of a block that ShiftRows of the last round takes from one column, so that round 9
/// has one column to make; a longer one has the block's bytes in order.
pub fn needed(bytes: usize) -> [Vec<usize>; ROUNDS + 1] {
    let mut needed = [const { Vec::new() }; ROUNDS + 1];
    // Row r of column 0 comes to column -r.
    let diagonal = |row: usize| if bytes <= 4 { 4 * ((4 - row) % 4) + row } else { row };
    needed[ROUNDS] = (0..bytes).map(diagonal).collect();
    for round in (1..=ROUNDS).rev() {
        let mut before: Vec<usize> =
            needed[round].iter().flat_map(|&byte| sources(round, byte).map(|(_, from)| from)).collect();
        before.sort_unstable();
        before.dedup();
        needed[round - 1] = before;
    }
    needed
}

/// The rows and places of the bytes before a round on which a byte after it depends.
fn sources(round: usize, byte: usize) -> impl Iterator<Item = (usize, usize)> {
    let (row, column) = (byte % 4, byte / 4);
    (0..4).filter(move |&other| round < ROUNDS || other == row).map(move |other| (other, shifted_from(other, column)))
}

/// The keys of all rounds, that of number 0 before the first.
pub struct RoundKeys(Zeroizing<[State; ROUNDS + 1]>);

impl RoundKeys {
    /// The key schedule.
    pub fn new(key: &State) -> Self {
        let mut words = Zeroizing::new([[0u8; 4]; 4 * (ROUNDS + 1)]);
        for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
            word.copy_from_slice(bytes);
        }
        let mut constant = 1;
        for i in 4..words.len() {
            let mut word = words[i - 1];
            if i % 4 == 0 {
                word.rotate_left(1);
                word = word.map(substitute);
                word[0] ^= constant;
                constant = double(constant);
            }
            for (byte, before) in word.iter_mut().zip(words[i - 4]) {
                *byte ^= before;
            }
            words[i] = word;
        }
        let mut keys = Zeroizing::new([[0; BLOCK]; ROUNDS + 1]);
        for (byte, of_words) in keys.iter_mut().flatten().zip(words.iter().flatten()) {
            *byte = *of_words;
        }
        Self(keys)
    }

    /// The key of a round.
    pub fn of(&self, round: usize) -> &State {
        &self.0[round]
    }

    /// The state after every round, that of number 0 after the first key was added: the last is the encrypted block.
    pub fn states(&self, block: State) -> [State; ROUNDS + 1] {
        let mut states = [[0; BLOCK]; ROUNDS + 1];
        states[0] = std::array::from_fn(|i| block[i] ^ self.of(0)[i]);
        for round in 1..=ROUNDS {
            let substituted = states[round - 1].map(substitute);
            let shifted: State = std::array::from_fn(|i| substituted[shifted_from(i % 4, i / 4)]);
            let mixed = |i: usize| {
                let of_row = |distance: usize| shifted[i / 4 * 4 + (i + distance) % 4];
                double(of_row(0)) ^ double(of_row(1)) ^ of_row(1) ^ of_row(2) ^ of_row(3)
            };
            states[round] =
                std::array::from_fn(|i| self.of(round)[i] ^ if round < ROUNDS { mixed(i) } else { shifted[i] });
        }
        states
    }
}

/// The block of that number: 96 zero bits, because a key serves one client alone, and the number, the most significant byte first.
pub fn block(number: u32) -> State {
    let mut block = [0; BLOCK];
    block[BLOCK - 4..].copy_from_slice(&number.to_be_bytes());
    block
}
