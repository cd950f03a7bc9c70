//! SimpleYPIR, also YPIR+SP (Menon, Wu; USENIX Security 2024, section 4.6): one layer over the ring. A query selects a row of
//! long items, and the answer of every 2048 columns is packed into a ring ciphertext. docs/simpleypir.md has the symbols, byte
//! formulas and noise theorem.

mod client;
mod describe;
mod layout;
mod params;
mod server;
#[cfg(test)]
mod tests;

pub use params::{Literal, Params, Rows};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::hintless::Hintless;
use crate::core::scheme::{Context, Request, Response, Sizes};
use crate::core::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct SimpleYpir;

impl Hintless for SimpleYpir {
    const NAME: &'static str = "simpleypir";
    const SUMMARY: &'static str = "SimpleYPIR: SimplePIR over a ring without a hint to download, for long records";
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
        (_, response): (&Request, &Response),
        context: &mut Context,
    ) -> Result<()> {
        client.measure_noise(server, response, context)
    }
}
