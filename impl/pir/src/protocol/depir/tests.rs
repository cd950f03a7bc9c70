mod evaluation;
mod plans;
mod polynomials;
mod protocol;
