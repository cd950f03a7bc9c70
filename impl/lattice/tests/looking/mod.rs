//! Finds what is left of secrets in freed memory. A program has one allocator, so this one serves all tests of each program that includes it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// An allocator that searches the memory that a thread frees, while that thread asks for it.
struct Looking;

// Each thread has its own, because tests run side by side.
thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    static SECRET: Cell<[u8; 16]> = const { Cell::new([0; 16]) };
    static FOUND: Cell<Found> = const { Cell::new(Found { secrets: 0, left: 0, bytes: 0 }) };
}

/// What freed memory holds.
#[derive(Clone, Copy)]
struct Found {
    /// Places of the secret.
    secrets: usize,
    /// Bytes that are not zero.
    left: usize,
    /// All bytes.
    bytes: usize,
}

// SAFETY: the system's allocator does all the work, and the search only reads.
unsafe impl GlobalAlloc for Looking {
    /// All memory is zero at first: what is found in it was written by its last owner. What grows moves (the trait's own `realloc`), so that
    /// the memory that it leaves is searched.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if LOOKS.get() {
            // SAFETY: the memory is the caller's until the last line. Volatile reads take bytes that were never written as they are.
            let byte = |at: usize| unsafe { pointer.add(at).read_volatile() };
            let (secret, size, Found { secrets, left, bytes }) = (SECRET.get(), layout.size(), FOUND.get());
            let starts = 0..(size + 1).saturating_sub(secret.len());
            let is_there = |start: &usize| secret.iter().zip(*start..).all(|(wanted, at)| *wanted == byte(at));
            FOUND.set(Found {
                secrets: secrets + starts.filter(is_there).count(),
                left: left + (0..size).filter(|&at| byte(at) != 0).count(),
                bytes: bytes + size,
            });
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

/// What is in the memory that making a value and dropping it give back.
fn look<T>(secret: [u8; 16], make: impl FnOnce() -> T) -> Found {
    SECRET.set(secret);
    FOUND.set(Found { secrets: 0, left: 0, bytes: 0 });
    LOOKS.set(true);
    // Without this the compiler may remove memory that nobody reads.
    drop(std::hint::black_box(make()));
    LOOKS.set(false);
    FOUND.get()
}

/// How often the memory that making a value and dropping it give back holds these bytes of a secret.
pub fn left_by<T>(secret: [u8; 16], make: impl FnOnce() -> T) -> usize {
    look(secret, make).secrets
}

/// How often the memory that dropping a value gives back holds these bytes of a secret.
pub fn left_of<T>(secret: [u8; 16], value: T) -> usize {
    left_by(secret, || value)
}

/// Bytes that dropping a value gives back, and how many of them are not zero.
pub fn dropped<T>(value: T) -> (usize, usize) {
    let found = look([1; 16], || value);
    (found.bytes, found.left)
}

#[test]
fn what_is_no_secret_is_not_wiped() {
    let secret = std::array::from_fn(|i| 7 * i as u8 + 1);
    assert_eq!(left_of(secret, [&[5; 3][..], &secret[..], &secret[..]].concat()), 2);
    assert_eq!(left_of(secret, vec![1u8; 100]), 0);
    assert_eq!(dropped(vec![1u8; 100]), (100, 100));
    // What grows leaves its first part behind.
    let grown = |capacity: usize| {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend(secret);
        bytes.extend([0; 1000]);
        bytes
    };
    assert_eq!([16, 2000].map(|capacity| left_by(secret, || grown(capacity))), [2, 1]);
    // What others left in memory that is taken and not written is not the taker's.
    drop(std::hint::black_box(secret.repeat(10)));
    assert_eq!(left_by(secret, || Vec::<u8>::with_capacity(160)), 0);
}
