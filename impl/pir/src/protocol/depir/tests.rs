mod block_lu;
mod evaluation;
mod files;
mod noise;
mod plans;
mod polynomials;
mod protocol;
