//! The parameter set of one-hot PIR.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Layout;
use crate::core::{ParameterSet, Result, Shape, power_of_two};
use crate::parts::bfv::{FamilyRing, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "onehot";

/// The tables of params/onehot/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Most turns of a column selector, which have a key each but the first; more columns take giant steps of an entry's sums.
    pub most_baby_steps: usize,
    /// Whether the turns of column selectors are made once, from digits that are cut once. If not, they are made again for every entry, with as
    /// many baby steps as there are keys, as in the thesis.
    pub hoisted: bool,
    /// Ciphertexts, keys and slots.
    pub ring: FamilyRing,
    /// Moduli of the ciphertexts of an answer; absent: they stay modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        power_of_two("most_baby_steps", self.most_baby_steps, 1..=1 << 10, "")?;
        self.ring.check()?;
        self.ring.check_switch(self.switch)
    }
}

impl Set {
    /// The database's layout.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        let family = self.ring.plaintext.family();
        let slots = (family.slots(self.ring.degree), family.rows(self.ring.degree));
        Ok(Layout::new(shape, slots, self.ring.slot_bits()?, (self.most_baby_steps, self.hoisted)))
    }
}
