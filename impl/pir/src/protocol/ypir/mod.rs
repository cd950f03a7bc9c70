//! YPIR (Menon, Wu; USENIX Security 2024): DoublePIR whose hint is packed into ring ciphertexts by CDKS, so that clients
//! download nothing beforehand. docs/ypir.md has the symbols, byte formulas and noise theorem.

pub(crate) mod layered;
mod params;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Literal, Params};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::hintless::Hintless;
use crate::core::scheme::{Context, Request, Response, Sizes};
use crate::core::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Ypir;

impl Hintless for Ypir {
    const NAME: &'static str = "ypir";
    const SUMMARY: &'static str = "YPIR: DoublePIR without a hint to download, one ring ciphertext a byte retrieved";
    type Params = Params;
    type Server = layered::Server;
    type Client = layered::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        layered::describe(params.layered(), workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        layered::Server::preprocess(Self::NAME, params.layered(), database, context)
    }

    fn client(params: &Params, shape: Shape) -> Result<Self::Client> {
        layered::Client::new(Self::NAME, params.layered(), shape)
    }

    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        exchange: (&Request, &Response),
        context: &mut Context,
    ) -> Result<()> {
        client.measure_noise(server, exchange, context)
    }
}
