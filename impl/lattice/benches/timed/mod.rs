//! Operations and the transforms that they make, for benches that time both in turn.

use gadget::Coins;
use lattice::Workspace;
use ring::{Coefficient, Poly, Ring, Seed};
use std::hint::black_box;
use std::time::Instant;

/// An operation, with its forward and inverse transforms.
pub struct Operation<'a> {
    pub name: &'static str,
    pub ntts: (usize, usize),
    pub run: Box<dyn FnMut() + 'a>,
}

impl<'a> Operation<'a> {
    pub fn new(name: &'static str, ntts: (usize, usize), mut run: impl FnMut(&mut Workspace<u32>) + 'a) -> Self {
        let mut workspace = workspace();
        Self { name, ntts, run: Box::new(move || run(&mut workspace)) }
    }
}

pub fn workspace() -> Workspace<u32> {
    Workspace::new(Coins::from_seed(Seed([2; 16])))
}

/// A closure that makes these numbers of forward and inverse transforms, prime by prime, in six buffers as the external product does.
pub fn transforms<'a>(
    ring: &'a Ring<u32>,
    poly: &Poly<u32, Coefficient>,
    (forward, inverse): (usize, usize),
) -> impl FnMut() + use<'a> {
    let limbs = ring.limbs();
    let mut buffers = vec![poly.clone(); 6];
    move || {
        for (limb, (_, plan)) in limbs.iter().enumerate() {
            for i in 0..forward / limbs.len() {
                plan.forward(black_box(buffers[i % 6].limb_mut(limb)));
            }
            for i in 0..inverse / limbs.len() {
                plan.inverse(black_box(buffers[i % 6].limb_mut(limb)));
            }
        }
    }
}

/// Seconds of one call, over this number of calls.
pub fn seconds(calls: u32, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
