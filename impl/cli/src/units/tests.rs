use super::*;

#[test]
fn counts_are_read_as_people_write_them() {
    for (text, value) in [("1048576", 1 << 20), ("2^20", 1 << 20), ("1_000_000", 1_000_000), ("10^3", 1000)] {
        assert_eq!(parse_count(text), Ok(value));
    }
    for bad in ["", "2^", "^3", "-1", "1e6", "2^64", "2^2^2", "99999999999999999999"] {
        assert!(parse_count(bad).is_err(), "{bad}");
    }
}

#[test]
fn numbers_are_written_as_people_read_them() {
    assert_eq!(grouped(1_234_567), "1 234 567");
    assert_eq!(power(1 << 20), "2^20");
    assert_eq!(power(1000), "1 000");
    assert_eq!(bytes(1023), "1023 B");
    assert_eq!(bytes(121 << 20), "121 MiB");
    assert_eq!(bytes(1536), "1.50 KiB");
    assert_eq!(seconds(0.0123), "12.3 ms");
    assert_eq!(seconds(600.0), "10.0 min");
    assert_eq!((ratio(2.0, 3.0).as_str(), ratio(0.0, 0.0).as_str(), ratio(0.0, 1.0).as_str()), ("1.500", "-", "-"));
    for no_number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!((three_digits(no_number).as_str(), seconds(no_number).as_str()), ("-", "-"));
    }
}

#[test]
fn the_time_is_rfc_3339() {
    let (now, form) = (now(), "0000-00-00T00:00:00Z");
    let digits = |text: &str| text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    assert!(digits(&now) == form && now.as_str() > "2024", "{now}");
}

#[test]
fn quartiles_are_linear_between_samples() {
    assert_eq!(quartiles(&[]), None);
    assert_eq!(quartiles(&[2.0]), Some((2.0, 2.0, 2.0)));
    assert_eq!(quartiles(&[5.0, 1.0, 3.0, 2.0, 4.0]), Some((2.0, 3.0, 4.0)));
    assert_eq!(quartiles(&[1.0, 2.0]), Some((1.25, 1.5, 1.75)));
}
