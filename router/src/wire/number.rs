//! Numbers as JSON text: which of them are integers, however they are written.

use std::borrow::Cow;

/// The maximum number of digits of a Rust integer: those of `u128`.
const MAX_DIGITS: i64 = 39;

/// The largest integer that every client reads and writes exactly, 2^53 - 1.
pub(crate) const SAFE_MAX: i64 = (1 << 53) - 1;

/// A JSON number, taken apart without rounding: its digits times a power of ten.
#[derive(Debug)]
pub(crate) struct Decimal<'a> {
    pub(crate) negative: bool,
    /// Without zeros at either end; empty for zero.
    pub(crate) digits: Cow<'a, str>,
    /// 0 for zero.
    pub(crate) power: i64,
}

impl<'a> Decimal<'a> {
    /// `None` if the text is not a JSON number, or if its exponent is beyond `i64` and the number is not zero.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if ![whole, fraction, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)]
            .into_iter()
            .all(is_number)
            || (whole.len() > 1 && whole.starts_with('0'))
        {
            return None;
        }
        let (digits, zeros) = match (whole, fraction.trim_end_matches('0')) {
            (whole, "") => {
                let digits = whole.trim_end_matches('0');
                (Cow::Borrowed(digits), i64::try_from(whole.len() - digits.len()).ok()?)
            }
            ("0", fraction) => {
                (Cow::Borrowed(fraction.trim_start_matches('0')), -i64::try_from(fraction.len()).ok()?)
            }
            (whole, fraction) => {
                (Cow::Owned([whole, fraction].concat()), -i64::try_from(fraction.len()).ok()?)
            }
        };
        if digits.is_empty() {
            return Some(Self { negative, digits, power: 0 });
        }
        let power = exponent.parse::<i64>().ok()?.checked_add(zeros)?;
        Some(Self { negative, digits, power })
    }

    /// Its value in the notation of integers; `None` if it has a fraction or more than 39 digits.
    ///
    /// An exponent costs nothing however large it is.
    // JSON Schema 2020-12 Validation, 6.1.1: a number with a zero fractional part is an integer
    pub(crate) fn integer(&self) -> Option<String> {
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        let length = self.power.checked_add(i64::try_from(self.digits.len()).ok()?)?;
        if length > MAX_DIGITS {
            return None;
        }
        let zeros = "0".repeat(usize::try_from(self.power).ok()?);
        Some([if self.negative { "-" } else { "" }, &self.digits, &zeros].concat())
    }
}

/// Rewrites a number without a fraction that is written as a float as an integer: `10.0` as `10`, `150e-1` as `15`,
/// `-0.0` and `-0` as `0`.
///
/// `None` if the text is already written as an integer, has a fraction or more than 39 digits, or is not a number.
pub(crate) fn integer_of(text: &str) -> Option<String> {
    // serde_json reads `-0` as a float
    if !text.contains(['.', 'e', 'E']) && text != "-0" {
        return None;
    }
    Decimal::read(text)?.integer()
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
            "1.",
            "01.0",
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
