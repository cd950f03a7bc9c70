//! InsPIRe_0's parameter set.

use lattice::pack::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{LweLiteral, ParameterSet, SourceNote};
use crate::parts::ring_matrix::{PackingLiteral, RlweLiteral, SwitchLiteral};
use crate::protocol::ypir::layered::{Body, LayersLiteral, Literals, Params as Layered};

/// An InsPIRe_0 set as written in params/inspire0/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `inspire0`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// How the digits of the first layer's answer are sent: `unpacked` as published, `packed` or `merged`.
    pub body: BodyLiteral,
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

/// How the digits of the first layer's answer, which depend on the query, reach the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyLiteral {
    /// One ring ciphertext each.
    Unpacked,
    /// One ring ciphertext for all, packed while the query is answered.
    Packed,
    /// Packed likewise, in coefficients of the first ciphertext that are free.
    Merged,
}

/// A checked InsPIRe_0 set.
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
        let Literal { protocol, title: _, body, source, layers, lwe, rlwe, packing, switch } = literal;
        if protocol != "inspire0" {
            return Err(Error::value("protocol", format!("`{protocol}` in an InsPIRe_0 set; write \"inspire0\".")));
        }
        let literals = Literals { source, layers, lwe, rlwe, packing, switch };
        let body = match body {
            BodyLiteral::Unpacked => Body::Unpacked,
            BodyLiteral::Packed => Body::Packed,
            BodyLiteral::Merged => Body::Merged,
        };
        Layered::try_new(literals, Method::Inspiring, body).map(Self)
    }

    fn source(&self) -> &SourceNote {
        self.0.source()
    }
}
