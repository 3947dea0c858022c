//! Numbers as JSON text: which of them are integers, however they are written.

/// The most digits that an integer of some Rust type has: those of `u128`.
const MOST_DIGITS: i64 = 39;

/// A number that is written as a float and has no fraction, written as the integer it is: `10.0` as `10`, `150e-1` as
/// `15`, `-0.0` and `-0` as `0`.
///
/// `None` for an integer that is written as one, for a number with a fraction, for one of more than 39 digits, and for what
/// is not a number. Nothing is rounded, and an exponent costs nothing however large it is.
// JSON Schema 2020-12 Validation, 6.1.1: a number with a zero fractional part is an integer
pub(crate) fn integer_of(text: &str) -> Option<String> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    if !rest.contains(['.', 'e', 'E']) {
        // serde_json reads it as a float
        return (text == "-0").then(|| "0".to_owned());
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || exponent_digits.is_empty()
        || ![whole, fraction, exponent_digits].map(digits).iter().all(|all| *all)
    {
        return None;
    }
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let trailing = significant.len() - significant.trim_end_matches('0').len();
    let significant = significant.trim_end_matches('0');
    // the integer is `significant` and so many zeros
    let zeros = exponent.parse::<i64>().ok()?.checked_add(i64::try_from(trailing).ok()?)?;
    let zeros = zeros.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let length = zeros.checked_add(i64::try_from(significant.len()).ok()?)?;
    if length > MOST_DIGITS {
        return None;
    }
    let zeros = "0".repeat(usize::try_from(zeros).ok()?);
    Some([if negative { "-" } else { "" }, significant, &zeros].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    // C94
    #[test]
    fn a_number_without_a_fraction_is_an_integer_however_it_is_written() {
        for (text, integer) in [
            ("10.0", "10"),
            ("5e0", "5"),
            ("1e2", "100"),
            ("1.0e1", "10"),
            ("1.0E+1", "10"),
            ("150e-1", "15"),
            ("12300e-2", "123"),
            ("1.50e1", "15"),
            ("-2.0", "-2"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("0.000", "0"),
            ("0e99999999999999999999", "0"),
            ("-0.0e-99999999999999999999", "0"),
            ("9007199254740993.0", "9007199254740993"),
            ("18446744073709551615.0", "18446744073709551615"),
            ("340282366920938463463374607431768211455.0", "340282366920938463463374607431768211455"),
            ("1e38", "100000000000000000000000000000000000000"),
        ] {
            assert_eq!(integer_of(text).as_deref(), Some(integer), "{text}");
        }
        let long = format!("1{}.{}e-100000", "0".repeat(100_000), "0".repeat(100_000));
        assert_eq!(integer_of(&long).as_deref(), Some("1"));
    }

    #[test]
    fn nothing_is_rounded_and_no_exponent_is_written_out() {
        for text in [
            "0",
            "5",
            "-1",
            "12345678901234567890123",
            "5.5",
            "1.00000000000000000001",
            "15e-1",
            "-0.5",
            "1e-1",
            "1e39",
            "1e1000000000",
            "-1e1000000000",
            "1e-1000000000",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "9007199254740992.5",
            "",
            "-",
            ".",
            "e",
            "-e1",
            "1e",
            "1e+",
            "1.0.0",
            "1e1e1",
            ".5",
            "\"5.0\"",
            "null",
            "--0.0",
            "1.0 ",
            "NaN",
        ] {
            assert_eq!(integer_of(text), None, "{text}");
        }
    }
}
