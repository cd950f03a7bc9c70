//! One pass over the matrix for several queries.

use lattice::{RingGadget, Rlwe};
use ring::{Coefficient, PolyPairs};

use super::{Folding, Matrix, OPENED, Selected, Selection};
use crate::core::{Context, Result, Turns};

/// What selects for one query: vectors of pairs for its row, and encryptions of the bits of its column, most significant first.
pub struct Selects<S> {
    /// One vector for each pair of polynomials of a ciphertext.
    pub vectors: Vec<PolyPairs>,
    /// One for each bit.
    pub selectors: Vec<S>,
}

/// Ciphertexts of columns from their pairs, given vector by vector.
pub fn joined<C>(
    pairs: impl IntoIterator<Item = Vec<Rlwe<u32, Coefficient>>>,
    join: impl Fn(Vec<Rlwe<u32, Coefficient>>) -> C,
) -> Vec<C> {
    let mut pairs: Vec<_> = pairs.into_iter().map(Vec::into_iter).collect();
    let columns = std::iter::from_fn(|| pairs.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>());
    columns.map(join).collect()
}

/// The selected column of each part, for each query; `join` makes a ciphertext of its pairs. Timed as `answer_first_dimension` and
/// `answer_folding`.
pub fn select<C: Selected>(
    steps: &mut Turns,
    (selection, matrix): (&Selection, &Matrix),
    gadget: &RingGadget<u32>,
    queries: &[Selects<C::Selector>],
    join: impl Fn(Vec<Rlwe<u32, Coefficient>>) -> C,
    context: &Context,
) -> Result<Vec<Vec<C>>> {
    let mut foldings: Vec<Folding<C>> =
        queries.iter().map(|query| Folding::new(selection, gadget, &query.selectors)).collect();
    let vectors: Vec<&PolyPairs> = queries.iter().flat_map(|query| &query.vectors).collect();
    matrix.multiply(selection, &vectors, context, |_, multiply| {
        let mut products = steps.time("answer_first_dimension", multiply)?.into_iter();
        for (query, folding) in queries.iter().zip(&mut foldings) {
            let columns = joined(products.by_ref().take(query.vectors.len()), &join);
            steps.time("answer_folding", || folding.extend(columns))?;
        }
        Ok(())
    })?;
    foldings.into_iter().map(|folding| steps.time("answer_folding", || folding.finish())).collect()
}

/// The first columns, and the selected one of each of the first `parts` parts, for a look at their noise, which all parts share.
pub fn first_columns<C: Selected>(
    (selection, matrix): (&Selection, &Matrix),
    gadget: &RingGadget<u32>,
    query: &Selects<C::Selector>,
    parts: usize,
    join: impl Fn(Vec<Rlwe<u32, Coefficient>>) -> C,
    context: &Context,
) -> Result<(Vec<C>, Vec<C>)> {
    let mut folding = Folding::new(selection, gadget, &query.selectors);
    let (vectors, mut first): (Vec<_>, Vec<C>) = (query.vectors.iter().collect(), Vec::new());
    // A short record has fewer parts.
    let count = matrix.layout().matrix_columns().min(parts * matrix.layout().columns);
    matrix.multiply_first(count, selection, &vectors, context, |_, multiply| {
        let columns = joined(multiply()?, &join);
        first.extend(columns.iter().take(OPENED - first.len()).cloned());
        folding.extend(columns)
    })?;
    Ok((first, folding.finish()?))
}
