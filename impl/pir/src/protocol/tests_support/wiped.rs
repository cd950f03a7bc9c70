//! What is left of secrets in memory that is given back. An allocator that looks is a whole program's: this one is that of this crate's tests.

use std::alloc::{GlobalAlloc, Layout, System};
use std::borrow::Cow;
use std::cell::Cell;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use super::small_set;
use crate::core::database::Database;
use crate::core::progress::Silent;
use crate::core::runner::{Options, Run};
use crate::core::workload::{Shape, Workload};
use crate::protocol::simplepir::SimplePir;

/// Looks at what a thread gives back while that thread asks for it.
struct Looking;

// Of each thread: tests run side by side.
thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    static SECRET: Cell<[u8; 16]> = const { Cell::new([0; 16]) };
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all; looking changes none of its memory.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    // Nothing grows while a value is dropped.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if LOOKS.get() {
            // SAFETY: the memory is the caller's until the next line. Volatile reads take bytes that were never written as they are.
            let byte = |at: usize| unsafe { pointer.add(at).read_volatile() };
            let secret = SECRET.get();
            let starts = 0..(layout.size() + 1).saturating_sub(secret.len());
            let is_there = |start: &usize| secret.iter().zip(*start..).all(|(wanted, at)| *wanted == byte(at));
            FOUND.set(FOUND.get() + starts.filter(is_there).count());
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

/// How often the memory that dropping a value gives back holds these bytes of a secret.
pub fn left_of<T>(secret: [u8; 16], value: T) -> usize {
    SECRET.set(secret);
    FOUND.set(0);
    // Else the compiler may leave out memory that nobody looks at.
    let value = std::hint::black_box(value);
    LOOKS.set(true);
    drop(value);
    LOOKS.set(false);
    FOUND.get()
}

#[test]
fn what_is_no_secret_is_not_wiped() {
    let secret = std::array::from_fn(|i| 7 * i as u8 + 1);
    assert_eq!(left_of(secret, [&[5; 3][..], &secret[..], &secret[..]].concat()), 2);
    assert_eq!(left_of(secret, vec![1u8; 100]), 0);
}

/// The state of a run's generator is not overwritten; beside it, nothing holds the seed.
#[test]
fn the_seed_of_a_run_is_wiped() {
    let seed: [u8; 32] = std::array::from_fn(|i| 7 * i as u8 + 1);
    let half = std::array::from_fn(|i| seed[i]);
    let params = small_set::<SimplePir>("", "[[plain_moduli]]\nlog2_samples = 13\nmodulus = 991\n");
    let shape = Shape::new(100, 8).unwrap();
    let workload = Workload::new(shape, 1, 0).unwrap();
    let options = Options { kernel: Kernel::best(), threads: 1, repetitions: 1, seed: Some(seed), noise_seconds: None };
    let database = Database::seeded([9; 16], shape);
    let run = Run::<SimplePir>::new(Cow::Borrowed(&params), database, workload, &options, &Silent).unwrap();
    let of_generator = left_of(half, Box::new(ChaCha20Rng::from_seed(seed)));
    assert_eq!(left_of(half, Box::new(run)), of_generator);
}
