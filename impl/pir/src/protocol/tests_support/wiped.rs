//! Finds what is left of secrets in freed memory. A program has one allocator, so this one serves all tests of this crate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// An allocator that searches the memory that a thread frees, while that thread asks for it.
struct Looking;

// Each thread has its own, because tests run side by side.
thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    static SECRET: Cell<[u8; 16]> = const { Cell::new([0; 16]) };
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all the work, and the search only reads.
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
    // Without this the compiler may remove memory that nobody reads.
    let value = std::hint::black_box(value);
    LOOKS.set(true);
    drop(value);
    LOOKS.set(false);
    FOUND.get()
}

#[test]
fn what_is_not_secret_is_not_wiped() {
    let secret = std::array::from_fn(|i| 7 * i as u8 + 1);
    assert_eq!(left_of(secret, [&[5; 3][..], &secret[..], &secret[..]].concat()), 2);
    assert_eq!(left_of(secret, vec![1u8; 100]), 0);
}
