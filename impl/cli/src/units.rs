//! Counts as people write them, bytes and seconds as people read them, times as records write them.

use std::time::SystemTime;

/// Parses `1048576`, `1_000_000` or `2^20`, below 2^64.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let plain = |digits: &str| {
        let digits: String = digits.chars().filter(|&c| c != '_').collect();
        digits.parse::<u64>().map_err(|_| "give a whole number such as 1048576, 1_000_000 or 2^20".to_string())
    };
    match text.split_once('^') {
        None => plain(text),
        Some((base, exponent)) => {
            let exponent = u32::try_from(plain(exponent)?).unwrap_or(u32::MAX);
            plain(base)?.checked_pow(exponent).ok_or_else(|| "it is 2^64 or more".to_string())
        }
    }
}

/// A count in groups of three digits.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// 2^k for a power of two above 2^9, else the digits in groups.
pub fn power(count: u64) -> String {
    if count >= 1024 && count.is_power_of_two() { format!("2^{}", count.trailing_zeros()) } else { grouped(count) }
}

/// Bytes in binary units.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// The text for an unknown number.
pub const UNKNOWN: &str = "-";

/// b over a with three decimals, if that is a number.
pub fn ratio(a: f64, b: f64) -> String {
    let ratio = b / a;
    if ratio.is_finite() { format!("{ratio:.3}") } else { UNKNOWN.into() }
}

/// Three significant digits, or all digits of a longer whole part.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => UNKNOWN.into(),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Seconds in the unit that suits them.
pub fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() => UNKNOWN.into(),
        v if v < 1e-6 => format!("{} ns", three_digits(v * 1e9)),
        v if v < 1e-3 => format!("{} us", three_digits(v * 1e6)),
        v if v < 1.0 => format!("{} ms", three_digits(v * 1e3)),
        v if v < 120.0 => format!("{} s", three_digits(v)),
        v => format!("{} min", three_digits(v / 60.0)),
    }
}

/// The time now, RFC 3339, UTC.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// First quartile, median and third quartile, linear between samples; `None` without samples.
pub fn quartiles(samples: &[f64]) -> Option<(f64, f64, f64)> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |quarter: usize| {
        let (position, rest) = (quarter * last / 4, quarter * last % 4);
        let next = sorted[(position + 1).min(last)];
        sorted[position] + (next - sorted[position]) * rest as f64 / 4.0
    };
    Some((at(1), at(2), at(3)))
}

/// Median, interquartile range and number of samples, as text; `None` without samples.
pub fn spread(samples: &[f64], text: impl Fn(f64) -> String) -> Option<[String; 3]> {
    let (low, middle, high) = quartiles(samples)?;
    let range = if samples.len() > 1 { text(high - low) } else { "-".into() };
    Some([text(middle), range, samples.len().to_string()])
}

#[cfg(test)]
mod tests;
