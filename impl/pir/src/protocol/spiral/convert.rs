//! Selectors of a query's rows.

use lattice::{Rgsw, RingGadget, Rlwe, VectorPrime, VectorRgsw, VectorRlwe, Workspace};
use ring::{Coefficient, Ntt};

use super::engine::Engine;
use super::keys::{Conversion, ServerKeys};
use super::query::Query;
use crate::core::Result;
use crate::parts::folding::selectors;

/// Selectors of pairs: converted from rows, or made of rows that are all there.
pub fn pairs(
    query: Query,
    engine: &Engine,
    keys: &ServerKeys,
    workspace: &mut Workspace<u32>,
) -> Result<Vec<Rgsw<u32>>> {
    match (query, &keys.conversion) {
        (query, Some(Conversion::Pair(key))) => {
            let rows = query.rows(engine, keys, workspace)?;
            selectors(rows, &engine.selector, (&engine.conversion, key), workspace)
        }
        (Query::Sent { rows, .. }, _) => {
            let digits = engine.selector.length();
            let selector = |rows: &[Rlwe<u32, Ntt>]| {
                let (mask, body) = rows.split_at(digits);
                Ok(Rgsw::from_rows(&engine.selector, mask.to_vec(), body.to_vec())?)
            };
            rows.chunks_exact(2 * digits).map(selector).collect()
        }
        // No bit selects a column.
        (Query::Packed(_), _) => Ok(Vec::new()),
    }
}

/// Selectors of vectors: of each row RLWE(m) the vector of all -S_j m, by products with the key of the conversion, and m at each place.
pub fn vectors(
    query: Query,
    engine: &Engine,
    keys: &ServerKeys,
    workspace: &mut Workspace<u32>,
) -> Result<Vec<VectorRgsw<u32>>> {
    let Some(Conversion::Vector(key)) = &keys.conversion else { return Ok(Vec::new()) };
    let rows = query.rows(engine, keys, workspace)?;
    rows.chunks_exact(engine.selector.length()).map(|rows| vector(rows, engine, (keys, key), workspace)).collect()
}

fn vector(
    rows: &[Rlwe<u32, Coefficient>],
    engine: &Engine,
    (keys, [of_mask, of_body]): (&ServerKeys, &[VectorPrime<u32>; 2]),
    workspace: &mut Workspace<u32>,
) -> Result<VectorRgsw<u32>> {
    let (places, conversion): (usize, &RingGadget<u32>) = (engine.params.vector_length, &engine.conversion);
    let mut masks = Vec::with_capacity(rows.len());
    let mut bodies: Vec<Vec<_>> = (0..places).map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        let mut mask = VectorRlwe::zero(&engine.ring, places);
        conversion.vector_product_ntt(&[(&row.a, of_mask), (&row.b, of_body)], workspace, &mut mask)?;
        masks.push(mask);
        let spread = conversion.spread(row, &keys.packing, workspace)?;
        bodies.iter_mut().zip(spread).for_each(|(rows, row)| rows.push(row));
    }
    let prime = |rows| VectorPrime::from_rows(&engine.selector, rows);
    let bodies = bodies.into_iter().map(prime).collect::<std::result::Result<_, _>>()?;
    Ok(VectorRgsw { mask: prime(masks)?, bodies })
}
