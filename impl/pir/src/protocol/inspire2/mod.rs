//! InsPIRe^(2) (InsPIRe, section 5): two layers over one ring. Partial InspiRING packs the first layer's answers into small
//! ciphertexts, whose digits the second layer selects from and packs again (of long records it selects whole polynomials of digits). docs/inspire2.md has the symbols, byte formulas and
//! noise theorem.

mod client;
mod describe;
mod first;
mod layout;
mod params;
mod public;
mod second;
mod server;
#[cfg(test)]
mod tests;
mod whole;

pub use params::{Literal, Params};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::hintless::Hintless;
use crate::core::scheme::{Context, Request, Response, Sizes};
use crate::core::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Inspire2;

impl Hintless for Inspire2 {
    const NAME: &'static str = "inspire2";
    const SUMMARY: &'static str = "InsPIRe^(2): two ring layers packed by partial InspiRING, the smallest queries";
    const STREAMS: bool = true;
    type Params = Params;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn client(params: &Params, shape: Shape) -> Result<Self::Client> {
        client::Client::new(params, shape)
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
