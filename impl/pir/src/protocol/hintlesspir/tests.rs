use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    ALL_SHAPES, conformance, grows_up_to_the_bounds, noise_variance, read, retrieves_long_records, updates_like_fresh,
};

/// 64 and 256 slots with blocks of some rows.
fn text(degree: usize, block_rows: usize, switch: &str) -> String {
    let (modulus, moduli) = match degree {
        64 => ("1073741441 * 1073739649 * 1073738753", "2095361, 2094721"),
        _ => ("1073738753 * 1073732609 * 1073731073", "2091521, 2090497"),
    };
    format!(
        "protocol = \"hintlesspir\"\ntitle = \"test\"\ncolumns_per_row = 2\nblock_rows = {block_rows}\n[source]\nkind = \"own\"\n\
         [lwe]\ndimension = 30\nmodulus = \"2^32\"\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 3.2 }}\n\
         [[plain_moduli]]\nlog2_samples = 32\nmodulus = 256\n\
         [ring]\ndegree = {degree}\nmodulus = \"{modulus}\"\nslot_moduli = [{moduli}]\n\
         secret = {{ kind = \"gaussian\", stddev = 3.2 }}\nerror = {{ stddev = 3.2 }}\ndigit_bits = 15\n{switch}"
    )
}

fn set(degree: usize, block_rows: usize, switch: &str) -> Set {
    read::<HintlessPir>(&text(degree, block_rows, switch)).unwrap()
}

conformance!(every: HintlessPir, set(64, 32, ""), ALL_SHAPES, 3, 4);
