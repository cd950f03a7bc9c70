//! LWE to RGSW.

use super::coefficients::{Extraction, extraction_automorphisms};
use super::squaring::{mask_row_ntts, squaring_key};
use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::lwe::Lwe;
use crate::product::{Workspace, product_ntts};
use crate::rlwe::{Masks, Rgsw, Rlwe, RlweKey, RlwePrime, SeededRlwePrime};
use crate::rotate::BlindRotationKey;
use crate::trace::{TraceKeys, inverse_power_of_two, trace_keys};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Poly, Word, Work};
use std::sync::Arc;

/// The keys of the conversion on the wire, beside the blind-rotation key: automorphisms of levels 1 to log2 N and the square.
#[derive(Clone, Debug)]
pub struct ConverterKeys<W: Word> {
    /// Automorphism keys, level 1 first.
    pub trace: Vec<SeededRlwePrime<W>>,
    /// RLWE'(s^2).
    pub squaring: SeededRlwePrime<W>,
}

impl<W: Word> ConverterKeys<W> {
    /// Fresh keys.
    pub fn new(
        key: &RlweKey<W>,
        trace: &RingGadget<W>,
        squaring: &RingGadget<W>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        let levels = 1..=key.ring().n().ilog2();
        Ok(Self {
            trace: trace_keys(key, levels, trace, error, masks, rng)?,
            squaring: squaring_key(key, squaring, error, masks, rng)?,
        })
    }
}

/// Converts LWE encryptions of bits, modulo 2N with the bit at N, to RGSW encryptions.
///
/// The rows of the output gadget are `spacing` coefficients apart. An LWE error below spacing / 2 in absolute value is harmless.
#[derive(Clone, Debug)]
pub struct RgswConverter<W: Word> {
    output: RingGadget<W>,
    positions: Vec<usize>,
    spacing: usize,
    extraction: Extraction,
    trace: RingGadget<W>,
    squaring: RingGadget<W>,
    /// Automorphisms and the square, which converters to other gadgets share.
    keys: Arc<(TraceKeys<W>, RlwePrime<W>)>,
}

/// The work of [`RgswConverter::rgsw`]: `positions` are the rows' coefficients in the accumulator, `trace` and `squaring` the gadgets of
/// the keys. The sums of the extraction are not counted.
pub fn rgsw_work(positions: &[usize], extraction: Extraction, trace: GadgetShape, squaring: GadgetShape) -> Work {
    let automorphisms = extraction_automorphisms(trace.ring.degree, positions, extraction) as u64;
    trace.automorphism_work() * automorphisms + squaring.rgsw_rows_work() * positions.len() as u64
}

impl<W: Word> RgswConverter<W> {
    /// Bytes in memory of its trace keys and of its squaring key.
    pub fn key_bytes(&self) -> [usize; 2] {
        [self.keys.0.bytes(), self.keys.1.bytes()]
    }

    /// A converter to RGSW ciphertexts of the gadget `output`, with keys made by [`ConverterKeys::new`] with those two gadgets.
    ///
    /// # Errors
    /// A spacing that is odd or too large for N / rows, gadgets or keys of another ring, keys made with another gadget.
    pub fn new(
        output: &RingGadget<W>,
        spacing: usize,
        extraction: Extraction,
        (trace, squaring): (&RingGadget<W>, &RingGadget<W>),
        keys: &ConverterKeys<W>,
    ) -> Result<Self, LatticeError> {
        let ring = output.ring();
        if keys.trace.len() != ring.n().ilog2() as usize {
            return Err(LatticeError::Mismatch("a ring and automorphism keys for another number of levels"));
        }
        keys.squaring.check(ring)?;
        let trace_keys = TraceKeys::new(ring, 1, &keys.trace)?;
        let squaring_key = keys.squaring.expand(ring);
        squaring.check_key(&squaring_key)?;
        trace_keys.check(trace)?;
        Self::of(output, spacing, extraction, (trace, squaring), Arc::new((trace_keys, squaring_key)))
    }

    /// A converter to RGSW ciphertexts of another gadget, by the same keys.
    ///
    /// # Errors
    /// A spacing that is odd or too large for N / rows, a gadget of another ring.
    pub fn with_output(&self, output: &RingGadget<W>, spacing: usize) -> Result<Self, LatticeError> {
        Self::of(output, spacing, self.extraction, (&self.trace, &self.squaring), Arc::clone(&self.keys))
    }

    fn of(
        output: &RingGadget<W>,
        spacing: usize,
        extraction: Extraction,
        (trace, squaring): (&RingGadget<W>, &RingGadget<W>),
        keys: Arc<(TraceKeys<W>, RlwePrime<W>)>,
    ) -> Result<Self, LatticeError> {
        let (ring, rows) = (output.ring(), output.length());
        if [trace, squaring].iter().any(|gadget| !gadget.ring().is_same(ring)) {
            return Err(LatticeError::Mismatch("gadgets of different rings"));
        }
        if spacing == 0 || spacing % 2 == 1 || spacing.checked_mul(rows).is_none_or(|width| width > ring.n()) {
            return Err(LatticeError::Parameter(format!(
                "{rows} rows {spacing} coefficients apart: give an even spacing from 2 to N / {rows} = {}",
                ring.n() / rows
            )));
        }
        Ok(Self {
            positions: (0..rows).map(|row| row * spacing).collect(),
            output: output.clone(),
            spacing,
            extraction,
            trace: trace.clone(),
            squaring: squaring.clone(),
            keys,
        })
    }

    /// The largest even spacing that leaves room for all rows and is a multiple of 2^`shared`: the first `shared` automorphisms of
    /// [`Extraction::Tree`] then serve all rows. `shared` is 0 without that tree.
    pub fn widest_spacing(n: usize, rows: usize, shared: u32) -> usize {
        let unit = 1 << shared.max(1);
        n / rows / unit * unit
    }

    /// The gadget of the RGSW ciphertexts made.
    pub fn output(&self) -> &RingGadget<W> {
        &self.output
    }

    /// The largest harmless LWE error: those in [-limit, limit) do not change the result.
    pub fn limit(&self) -> usize {
        self.spacing / 2
    }

    /// The table T that is rotated: for an LWE phase bit N + e, -limit <= e < limit, coefficient t spacing of T X^(-phase) is
    /// -(-1)^bit g_t / 2 modulo q, g_t the weights of the output gadget.
    pub fn table(&self) -> Poly<W, Coefficient> {
        let ring = self.output.ring();
        let (q, half) = (self.output.modulus(), self.limit());
        let mut coefficients = vec![0u128; ring.n()];
        for (row, half_weight) in self.half_weights().enumerate() {
            // From row spacing - half to row spacing + half - 1. Coefficients before 0 wrap around with the other sign.
            for offset in 0..self.spacing {
                match (row * self.spacing + offset).checked_sub(half) {
                    Some(place) => coefficients[place] = q - half_weight,
                    None => coefficients[ring.n() + offset - half] = half_weight,
                }
            }
        }
        ring.from_u128(&coefficients)
    }

    /// g_t / 2 modulo q, which is odd.
    fn half_weights(&self) -> impl Iterator<Item = u128> {
        let q = self.output.modulus();
        let half =
            move |weight: u128| if weight & 1 == 0 { weight >> 1 } else { (weight >> 1) + inverse_power_of_two(q, 1) };
        self.output.weights().iter().map(move |&weight| half(weight) % q)
    }

    /// RGSW(bit) for every LWE encryption of a bit: modulo 2N, the bit at N, under the small key of the blind rotation. The rotations run
    /// side by side, so that their key is read once.
    pub fn convert_all(
        &self,
        inputs: &[Lwe],
        rotation: &BlindRotationKey<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Rgsw<W>>, LatticeError> {
        let ring = self.output.ring();
        if !rotation.ring().is_same(ring) {
            return Err(LatticeError::Mismatch("a converter and a blind-rotation key of different rings"));
        }
        let mut accumulators = vec![Rlwe::trivial(ring, self.table()); inputs.len()];
        rotation.rotate_all(&mut accumulators, inputs, workspace)?;
        accumulators.iter().map(|accumulator| self.rgsw(accumulator, workspace)).collect()
    }

    /// RGSW(bit) from the table rotated by the phase of an LWE encryption of that bit.
    pub fn rgsw(
        &self,
        accumulator: &Rlwe<W, Coefficient>,
        workspace: &mut Workspace<W>,
    ) -> Result<Rgsw<W>, LatticeError> {
        let ring = self.output.ring();
        let rows = self.trace.coefficients(accumulator, &self.positions, self.extraction, &self.keys.0, workspace)?;
        let mut rgsw = Rgsw {
            mask: RlwePrime { scale: self.output.scale(), rows: Vec::with_capacity(rows.len()) },
            body: RlwePrime { scale: self.output.scale(), rows: Vec::with_capacity(rows.len()) },
        };
        for (mut row, half_weight) in rows.into_iter().zip(self.half_weights()) {
            for (limb, (modulus, _)) in ring.limbs().iter().enumerate() {
                let constant = &mut row.b.limb_mut(limb)[0];
                *constant = modulus.add(*constant, modulus.reduce_u128(half_weight));
            }
            let [mask, body] = self.squaring.rgsw_rows(row, &self.keys.1, workspace)?;
            rgsw.mask.rows.push(mask);
            rgsw.body.rows.push(body);
        }
        Ok(rgsw)
    }

    /// Number of automorphisms of one conversion.
    pub fn automorphisms(&self) -> usize {
        extraction_automorphisms(self.output.ring().n(), &self.positions, self.extraction)
    }

    /// NTTs of size N modulo one prime that [`Self::rgsw`] takes: forward and inverse.
    pub fn ntts(&self) -> (usize, usize) {
        let primes = self.output.ring().primes().len();
        let (forward, inverse) = product_ntts(1, self.trace.length(), primes);
        let squares = self.output.length() * mask_row_ntts(self.squaring.length(), primes);
        (self.automorphisms() * forward + squares, self.automorphisms() * inverse)
    }
}
