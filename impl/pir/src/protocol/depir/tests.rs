mod block_lu;
mod evaluation;
mod noise;
mod plans;
mod polynomials;
mod protocol;
