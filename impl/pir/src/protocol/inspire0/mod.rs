//! InsPIRe_0 (InsPIRe, section 4): YPIR with InspiRING in place of CDKS, hence two packing keys in place of eleven.
//! docs/inspire0.md has the symbols, byte formulas and noise theorem.

mod params;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Literal, Params};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::hintless::Hintless;
use crate::core::scheme::{Context, Request, Response, Sizes};
use crate::core::workload::{Shape, Workload};
use crate::protocol::ypir::layered;

/// The protocol.
#[derive(Debug)]
pub struct Inspire0;

impl Hintless for Inspire0 {
    const NAME: &'static str = "inspire0";
    const SUMMARY: &'static str = "InsPIRe_0: YPIR packed by InspiRING, two packing keys instead of eleven";
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
