//! Memory that held a secret key is zero when it is given back. An allocator that looks is a whole program's, so that this test has one of
//! its own.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lattice::lwe::LweKey;
use lattice::{RlweKey, Secret, SplitRing};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::prg::Prg;
use ring::{Kernel, Ring};

/// Looks at what is given back.
struct Looking;

static LOOKS: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all; looking changes none of its memory.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if LOOKS.load(Ordering::Relaxed) {
            // SAFETY: the memory is the caller's until the next line; keys initialise all of theirs.
            let bytes = unsafe { std::slice::from_raw_parts(pointer, layout.size()) };
            BYTES.fetch_add(bytes.len(), Ordering::Relaxed);
            LEFT.fetch_add(bytes.iter().filter(|byte| **byte != 0).count(), Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

/// Bytes that dropping a value gives back, and how many of them are not zero.
fn dropped<T>(value: T) -> (usize, usize) {
    LOOKS.store(true, Ordering::Relaxed);
    drop(value);
    LOOKS.store(false, Ordering::Relaxed);
    (BYTES.swap(0, Ordering::Relaxed), LEFT.swap(0, Ordering::Relaxed))
}

#[test]
fn keys_are_wiped_when_dropped() {
    const N: usize = 512;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert_eq!(dropped(vec![1u8; 100]), (100, 100), "what is not secret is not wiped");
    assert_eq!(dropped(LweKey::sample(&Secret::Ternary, N, &mut rng).unwrap()), (4 * N, 0));
    assert_eq!(dropped(Secret::Uniform.sample(N, &mut rng).unwrap()), (4 * N, 0));
    let ring = Ring::<u32>::new(N, &[268_369_921], Kernel::best()).unwrap();
    assert_eq!(dropped(RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap()), (8 * N, 0));
    let ring = Ring::<u64>::new(N, &[268_369_921, 249_561_089], Kernel::best()).unwrap();
    let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
    let rings = SplitRing::new(N).unwrap();
    let (bytes, left) = dropped(rings.key(&key).unwrap());
    assert!(bytes >= 2 * 12 * N && left == 0, "the key that opens answers: {left} of {bytes} bytes are left");
    assert_eq!(dropped(key), (20 * N, 0));
    // A flag beside the round keys says how wide the registers are.
    let (bytes, left) = dropped(Box::new(Prg::new([7; 16])));
    assert!(bytes >= 11 * 16 && left <= 16, "a generator's round keys: {left} of {bytes} bytes are left");
}
