//! InsPIRe_0 (InsPIRe, section 4): YPIR with InspiRING in place of CDKS, hence two packing keys in place of eleven.
//! docs/inspire0.md has the symbols, byte formulas and noise theorem.

mod params;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Literal, Params};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::scheme::{Context, Protocol, Sizes};
use crate::core::workload::{Shape, Workload};
use crate::protocol::ypir::layered;

/// The protocol.
#[derive(Debug)]
pub struct Inspire0;

impl Protocol for Inspire0 {
    const NAME: &'static str = "inspire0";
    const SUMMARY: &'static str = "InsPIRe_0: YPIR packed by InspiRING, two packing keys instead of eleven";
    type Params = Params;
    type Server = layered::Server;
    type Client = layered::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        layered::describe(params.layered(), workload)
    }

    fn server(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        layered::Server::preprocess(Self::NAME, params.layered(), database, context)
    }

    fn client(params: &Params, shape: Shape, _: &mut Context) -> Result<Self::Client> {
        layered::Client::new(Self::NAME, params.layered(), shape)
    }
}
