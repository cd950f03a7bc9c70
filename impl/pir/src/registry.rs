//! The table of all protocols, with their types erased, as the command line needs it.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;

use crate::core::database::Database;
use crate::core::description::Description;
use crate::core::error::{Error, Result};
use crate::core::progress::Progress;
use crate::core::protocol;
use crate::core::runner::{Options, Run, Session};
use crate::core::set_file::{ParameterFile, schema_of};
use crate::core::workload::Workload;
use crate::protocol::{
    cwpir::Cwpir,
    depir::Depir,
    doublepir::DoublePir,
    hintlesspir::HintlessPir,
    inspire::Inspire,
    inspire2::Inspire2,
    kspir::Kspir,
    onehot::OneHot,
    onionpir::OnionPir,
    piano::Piano,
    pirana::Pirana,
    pirouette::{Pirouette, PirouetteH, TRespire},
    respire::Respire,
    simplepir::{FrodoPir, SimplePir},
    simpleypir::SimpleYpir,
    spiral::Spiral,
    ypir::{Inspire0, Ypir},
};

/// Makes a session whose work has not begun.
pub type OpenSession =
    for<'a> fn(&ParameterFile, Database, Workload, &Options, &'a dyn Progress) -> Result<Box<dyn Session + 'a>>;

/// One protocol.
#[derive(Clone, Copy)]
pub struct Protocol {
    /// Name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Hash of the sources its numbers depend on, taken when this program was built.
    pub source_hash: &'static str,
    /// Describes a set at a workload.
    pub describe: fn(&ParameterFile, &Workload) -> Result<Description>,
    /// Parses and checks a set.
    pub check: fn(&ParameterFile) -> Result<()>,
    /// Opens a session.
    pub session: OpenSession,
    /// JSON Schema of its parameter files.
    pub schema: fn() -> serde_json::Value,
    /// JSON Schema of what its descriptions say of a layout.
    pub layout: fn() -> serde_json::Value,
}

const fn entry<S: protocol::Protocol + 'static>(source_hash: &'static str) -> Protocol {
    Protocol {
        name: S::NAME,
        summary: S::SUMMARY,
        source_hash,
        describe: describe::<S>,
        check: |file| read::<S>(file).map(|_| ()),
        session: open::<S>,
        schema: schema_of::<S::Set>,
        layout: layout::<S>,
    }
}

/// The set in a file.
pub(crate) fn read<S: protocol::Protocol>(file: &ParameterFile) -> Result<S::Set> {
    if file.protocol != S::NAME {
        let problem = format!("`{}` in a set of {}; write \"{}\".", file.protocol, S::NAME, S::NAME);
        return Err(file.named(Error::value("protocol", problem)));
    }
    let set = file.parse()?;
    S::check(&set).map_err(|e| file.named(e))?;
    Ok(set)
}

fn describe<S: protocol::Protocol>(file: &ParameterFile, workload: &Workload) -> Result<Description> {
    let params = read::<S>(file)?;
    if workload.streamed && !S::STREAMS {
        return Err(Error::cannot_stream(S::NAME));
    }
    let sizes = S::describe(&params, workload).map_err(|e| file.named(e))?;
    Ok(sizes.describe(S::NAME, file.id(), workload))
}

fn layout<S: protocol::Protocol>() -> serde_json::Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<S::Numbers>();
    schema.remove("$schema");
    schema.insert("title".into(), S::NAME.into());
    schema.to_value()
}

fn open<'a, S: protocol::Protocol + 'static>(
    file: &ParameterFile,
    database: Database,
    workload: Workload,
    options: &Options,
    progress: &'a dyn Progress,
) -> Result<Box<dyn Session + 'a>> {
    let params = read::<S>(file)?;
    Ok(Box::new(Run::<S>::new(Cow::Owned(params), database, workload, options, progress)?))
}

static PROTOCOLS: [Protocol; 21] = [
    entry::<SimplePir>(env!("PIRLAB_SOURCE_SIMPLEPIR")),
    entry::<FrodoPir>(env!("PIRLAB_SOURCE_SIMPLEPIR")),
    entry::<DoublePir>(env!("PIRLAB_SOURCE_DOUBLEPIR")),
    entry::<HintlessPir>(env!("PIRLAB_SOURCE_HINTLESSPIR")),
    entry::<Kspir>(env!("PIRLAB_SOURCE_KSPIR")),
    entry::<Ypir>(env!("PIRLAB_SOURCE_YPIR")),
    entry::<SimpleYpir>(env!("PIRLAB_SOURCE_SIMPLEYPIR")),
    entry::<Inspire0>(env!("PIRLAB_SOURCE_YPIR")),
    entry::<Inspire2>(env!("PIRLAB_SOURCE_INSPIRE2")),
    entry::<Inspire>(env!("PIRLAB_SOURCE_INSPIRE")),
    entry::<Respire>(env!("PIRLAB_SOURCE_RESPIRE")),
    entry::<Spiral>(env!("PIRLAB_SOURCE_SPIRAL")),
    entry::<OnionPir>(env!("PIRLAB_SOURCE_ONIONPIR")),
    entry::<Piano>(env!("PIRLAB_SOURCE_PIANO")),
    entry::<Pirana>(env!("PIRLAB_SOURCE_PIRANA")),
    entry::<OneHot>(env!("PIRLAB_SOURCE_ONEHOT")),
    entry::<Cwpir>(env!("PIRLAB_SOURCE_CWPIR")),
    entry::<Depir>(env!("PIRLAB_SOURCE_DEPIR")),
    entry::<Pirouette>(env!("PIRLAB_SOURCE_PIROUETTE")),
    entry::<PirouetteH>(env!("PIRLAB_SOURCE_PIROUETTE")),
    entry::<TRespire>(env!("PIRLAB_SOURCE_PIROUETTE")),
];

/// All protocols.
pub fn all() -> &'static [Protocol] {
    &PROTOCOLS
}

/// The protocol `name`.
pub fn find(name: &str) -> Result<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.name == name).ok_or_else(|| {
        let known = PROTOCOLS.each_ref().map(|protocol| protocol.name).join(", ");
        Error::Workload(format!("unknown protocol `{name}`: this program has {known}. See `pirlab list`."))
    })
}
