use super::*;

#[test]
fn every_error_of_the_library_is_bad_input() {
    for error in [Error::message("hint", "it is cut off."), Error::value("lwe", "it is odd.")] {
        let text = error.to_string();
        assert!(matches!(Failure::from(error), Failure::Input(said) if said == text));
    }
}
