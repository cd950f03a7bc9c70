//! The portable path.

pub(super) fn read_sum<const S: usize>(bytes: &[u8], _ahead: usize) -> u64 {
    let part = bytes.len() / S;
    let mut sums = [[0u64; 8]; S];
    for at in (0..part).step_by(64) {
        for (stream, sums) in sums.iter_mut().enumerate() {
            let line = &bytes[stream * part + at..][..64];
            for (sum, word) in sums.iter_mut().zip(line.chunks_exact(8)) {
                let mut value = [0; 8];
                value.copy_from_slice(word);
                *sum = sum.wrapping_add(u64::from_le_bytes(value));
            }
        }
    }
    sums.iter().flatten().fold(0, |all: u64, sum| all.wrapping_add(*sum))
}
