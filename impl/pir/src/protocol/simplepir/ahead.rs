//! What FrodoPIR's client makes before it knows the index.

use std::collections::VecDeque;

use lattice::lwe::PublicMatrix;
use zeroize::Zeroizing;

use super::hint::Hint;
use crate::core::{Error, Result};
use crate::parts::lwe_matrix::{EntryChange, Layout};

/// A query to which only the index is to be added, and what takes its mask off the answer.
pub(super) struct Ahead {
    /// The secret s. It serves one query, and the changes of [`Self::products`] that updates ask for.
    pub key: Zeroizing<Vec<u32>>,
    /// A s + e.
    pub body: Vec<u32>,
    /// H s.
    pub products: Zeroizing<Vec<u32>>,
}

/// Queries made ahead, the oldest first. Each leaves when it is used, so that none can serve twice.
#[derive(Default)]
pub(super) struct Stock(VecDeque<Ahead>);

impl Stock {
    /// Adds queries of these secrets and bodies.
    pub fn add(&mut self, keys: Vec<Zeroizing<Vec<u32>>>, bodies: Vec<Vec<u32>>, hint: &Hint, rows: usize) {
        let made = keys.into_iter().zip(bodies).map(|(key, body)| {
            let products = Zeroizing::new((0..rows).map(|row| hint.inner_product(row, &key)).collect());
            Ahead { key, body, products }
        });
        self.0.extend(made);
    }

    /// Takes as many as are asked for, or none.
    pub fn take(&mut self, queries: usize) -> Result<Vec<Ahead>> {
        if queries > self.0.len() {
            let problem = format!(
                "{queries} are asked together and {} are left of those made ahead, each of which serves once: make more first.",
                self.0.len()
            );
            return Err(Error::message("query", problem));
        }
        Ok(self.0.drain(..queries).collect())
    }

    /// Follows a change of one record, as the hint does.
    pub fn apply(&mut self, change: &EntryChange, layout: &Layout, public: &PublicMatrix) {
        let (first_row, column, _) = layout.place(change.index);
        let mask = public.row(column);
        for ahead in &mut self.0 {
            let mask = mask.iter().zip(&*ahead.key).fold(0u32, |sum, (&a, &s)| sum.wrapping_add(a.wrapping_mul(s)));
            for (product, &delta) in ahead.products[first_row..].iter_mut().zip(&change.deltas) {
                *product = product.wrapping_add((i32::from(delta) as u32).wrapping_mul(mask));
            }
        }
    }

    /// Follows a new hint.
    pub fn renew(&mut self, hint: &Hint) {
        for ahead in &mut self.0 {
            let Ahead { key, products, .. } = ahead;
            products.iter_mut().enumerate().for_each(|(row, product)| *product = hint.inner_product(row, key));
        }
    }
}
