//! YPIR's parameter set.

use lattice::pack::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{LweLiteral, ParameterSet, SourceNote};
use crate::parts::ring_matrix::{PackingLiteral, RlweLiteral, SwitchLiteral};
use crate::protocol::ypir::layered::{Body, LayersLiteral, Literals, Params as Layered};

/// A YPIR set as written in params/ypir/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `ypir`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// What both layers exchange.
    pub layers: LayersLiteral,
    /// First layer.
    pub lwe: LweLiteral,
    /// Second layer.
    pub rlwe: RlweLiteral,
    /// Gadget of packing keys.
    pub packing: PackingLiteral,
    /// Moduli of an answer.
    pub switch: SwitchLiteral,
}

/// A checked YPIR set.
#[derive(Clone, Debug)]
pub struct Params(Layered);

impl Params {
    /// As both layers take it.
    pub fn layered(&self) -> &Layered {
        &self.0
    }
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal { protocol, title: _, source, layers, lwe, rlwe, packing, switch } = literal;
        if protocol != "ypir" {
            return Err(Error::value("protocol", format!("`{protocol}` in a YPIR set; write \"ypir\".")));
        }
        let literals = Literals { source, layers, lwe, rlwe, packing, switch };
        Layered::try_new(literals, Method::Cdks, Body::Traced).map(Self)
    }

    fn source(&self) -> &SourceNote {
        self.0.source()
    }
}
