//! Digits, bits and selectors of one query by several threads at once.
//!
//! Each floor needs the one before it, but no bit: one thread extracts digit after digit, the others decompose the extracted digits and
//! convert their bits, and at the end the first thread joins them. Bits that are converted together share a pass over the keys, so groups
//! are as large as possible without making a thread wait.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lattice::lwe::Lwe;
use lattice::{LatticeError, Rgsw};
use rayon::ScopeFifo;

use super::convert::{Converted, EncryptedIndex, convert as selectors, group};
use crate::core::{Error, Result};
use crate::parts::ring_matrix::workspace;

/// Most bits that a thread converts while another finds a digit: that takes about as long as the two rotations of a floor.
const BITS_MEANWHILE: usize = 2;

/// The work that is left and the results so far. Bits are numbered from the lowest of the index.
struct Board {
    /// Floors that are not finished.
    floors: u32,
    /// Found digits whose decomposition has not begun, the lowest first.
    digits: Vec<Lwe>,
    /// Number of digits whose decomposition has begun.
    begun: u32,
    /// Bits modulo 2N whose conversion has not begun.
    bits: VecDeque<(usize, Lwe)>,
    /// Number of bits whose conversion has not begun, including those of digits not yet found.
    unconverted: usize,
    /// Each thread's share of the bits that were left when the last digit was found.
    share: Option<usize>,
    converted: Vec<Option<(Lwe, Lwe)>>,
    selectors: Vec<Option<Rgsw<u32>>>,
    failed: Result<()>,
}

enum Task {
    /// Decompose digits from this number on.
    Bits(u32, Vec<Lwe>),
    Convert(Vec<(usize, Lwe)>),
}

struct Overlap<'a> {
    index: &'a EncryptedIndex<'a>,
    threads: usize,
    board: Mutex<Board>,
}

/// All bits of an index and their selectors, by `threads` threads of the current pool.
pub(super) fn convert(index: &EncryptedIndex, threads: usize) -> Result<Converted> {
    let bits = index.bits as usize;
    let board = Board {
        floors: index.layout.digits() - 1,
        digits: Vec::new(),
        begun: 0,
        bits: VecDeque::new(),
        unconverted: bits,
        share: None,
        converted: vec![None; bits],
        selectors: vec![None; bits],
        failed: Ok(()),
    };
    let overlap = Overlap { index, threads: threads.max(2), board: Mutex::new(board) };
    rayon::scope_fifo(|scope| {
        let found = overlap.find_digits(scope);
        overlap.note(found.map_err(Error::from));
        overlap.work(scope);
    });
    let board = overlap.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    board.failed?;
    let missing = || Error::from(LatticeError::Mismatch("a bit of an index and its conversion"));
    let mut all = Converted::default();
    for (bit, selector) in board.converted.into_iter().zip(board.selectors) {
        let ((large, small), selector) = bit.zip(selector).ok_or_else(missing)?;
        all.large.push(large);
        all.small.push(small);
        all.selectors.push(selector);
    }
    Ok(all)
}

impl<'a> Overlap<'a> {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, outcome: Result<()>) {
        if outcome.is_err() {
            self.board().failed = outcome;
        }
    }

    /// Finds one digit after the other; each gives other threads work.
    fn find_digits<'s>(&'s self, scope: &ScopeFifo<'s>) -> std::result::Result<(), LatticeError> {
        let (EncryptedIndex { bootstrapper, layout, query, .. }, mut workspace) = (self.index, workspace());
        let mut rest = query.clone();
        for number in 0..layout.digits() {
            let digit = bootstrapper.digit(layout, &rest, number)?;
            self.board().digits.push(digit);
            if number + 1 < layout.digits() {
                scope.spawn_fifo(|scope| self.work(scope));
                rest = bootstrapper.floor(layout, &rest, number, &mut workspace)?;
                self.board().floors -= 1;
            }
        }
        Ok(())
    }

    /// Works until nothing is left.
    fn work<'s>(&'s self, scope: &ScopeFifo<'s>) {
        while let Some(task) = self.task() {
            let outcome = match task {
                Task::Bits(first, digits) => {
                    let outcome = self.take_bits(first, &digits);
                    (1..self.threads).for_each(|_| scope.spawn_fifo(|scope| self.work(scope)));
                    outcome
                }
                Task::Convert(bits) => self.convert(bits),
            };
            self.note(outcome);
        }
    }

    /// The next piece of work. Digits wait while bits can be converted, because digits that are decomposed together share a pass over the
    /// keys, too.
    fn task(&self) -> Option<Task> {
        let mut board = self.board();
        if board.failed.is_err() {
            return None;
        }
        let waiting = board.bits.len();
        if !board.digits.is_empty() && (waiting == 0 || board.floors == 0) {
            let digits = std::mem::take(&mut board.digits);
            let first = board.begun;
            board.begun += digits.len() as u32;
            return Some(Task::Bits(first, digits));
        }
        let share = if board.floors > 0 {
            waiting.div_ceil(self.threads / 2).min(BITS_MEANWHILE * board.floors as usize)
        } else {
            let share = group(board.unconverted, self.threads);
            (*board.share.get_or_insert(share)).min(waiting)
        };
        board.unconverted -= share;
        let bits: Vec<(usize, Lwe)> = board.bits.drain(..share).collect();
        (!bits.is_empty()).then_some(Task::Convert(bits))
    }

    fn take_bits(&self, first: u32, digits: &[Lwe]) -> Result<()> {
        let found = self.index.bits_of(first, digits)?;
        let first = (first * self.index.layout.bits()) as usize;
        let mut board = self.board();
        for (bit, (large, small)) in (first..).zip(found.large.into_iter().zip(found.small)) {
            board.bits.push_back((bit, small.clone()));
            board.converted[bit] = Some((large, small));
        }
        Ok(())
    }

    fn convert(&self, bits: Vec<(usize, Lwe)>) -> Result<()> {
        let (numbers, bits): (Vec<usize>, Vec<Lwe>) = bits.into_iter().unzip();
        let selectors = selectors(self.index.keys, &bits, 1)?;
        let mut board = self.board();
        for (number, selector) in numbers.into_iter().zip(selectors) {
            board.selectors[number] = Some(selector);
        }
        Ok(())
    }
}
