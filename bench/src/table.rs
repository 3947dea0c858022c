//! The table: medians of alternated runs, and ratios of pairs that ran one after another.

use std::fmt::Write;

use crate::load::{Load, Sample};

pub(crate) const HEAD: &str = "\
| load | unit | limit | ours | ratio (range) | at most | limit/s | ours/s | ratio | wrong |
|---|---|---|---|---|---|---|---|---|---|
";

/// The name of a load, and the unit of its cost.
fn name(load: Load) -> (String, &'static str) {
    match load {
        Load::Calls(1) => ("echo, one session, 1 connection".to_owned(), "CPU us/call"),
        Load::Calls(n) => (format!("echo, {n} sessions, a connection each"), "CPU us/call"),
        Load::OneSession(n) => (format!("echo, {n} connections in one session"), "CPU us/call"),
        Load::Stateless(n) => (format!("echo, {n} connections, 2026-07-28"), "CPU us/call"),
        Load::Churn(n) => (format!("session open + call + delete, {n} connections"), "CPU us/cycle"),
        Load::Progress(n) => (format!("progress, {n} calls at once"), "CPU us/notification"),
        Load::Idle(n) => (format!("idle GET streams, {n} open"), "KiB/stream"),
        Load::Listens(n) => (format!("idle listen streams, {n} open"), "KiB/stream"),
        Load::Stdio(1) => ("stdio, one call at a time".to_owned(), "CPU us/call"),
        Load::Stdio(n) => (format!("stdio, {n} calls at once"), "CPU us/call"),
    }
}

/// The target of a load: the cost that the design allows.
fn target(load: Load) -> &'static str {
    match load {
        Load::Calls(32 | 256) | Load::Churn(_) => "2x",
        Load::Stateless(32) => "1.6x",
        Load::Progress(_) => "4x",
        Load::Idle(_) | Load::Listens(_) => "14 KiB",
        Load::Stdio(2..) => "rate 0.5x",
        Load::Calls(_) | Load::OneSession(_) | Load::Stateless(_) | Load::Stdio(_) => "",
    }
}

/// One row. Each pair is a run of the limit and one of our server.
pub(crate) fn row(load: Load, pairs: &[(Sample, Sample)], wrong: &str) -> String {
    let (name, unit) = name(load);
    let of = |pick: fn(&(Sample, Sample)) -> Option<f64>| sorted(pairs.iter().filter_map(pick));
    let limit = of(|(limit, _)| Some(limit.cost));
    let ours = of(|(_, ours)| Some(ours.cost));
    let ratios = of(|(limit, ours)| Some(ours.cost / limit.cost));
    let (Some(lowest), Some(highest)) = (ratios.first(), ratios.last()) else {
        return format!("| {name} | {unit} | | | | {} | | | | {wrong} |\n", target(load));
    };
    let mut row = format!(
        "| {name} | {unit} | {:.2} | {:.2} | **{:.2}** ({lowest:.2}-{highest:.2}) | {} |",
        median(&limit),
        median(&ours),
        median(&ratios),
        target(load)
    );
    let rates = of(|(limit, ours)| Some(ours.rate? / limit.rate?));
    let end = if rates.is_empty() {
        write!(row, " | | | {wrong} |")
    } else {
        let (limit, ours) = (of(|(limit, _)| limit.rate), of(|(_, ours)| ours.rate));
        write!(row, " {:.0} | {:.0} | **{:.2}** | {wrong} |", median(&limit), median(&ours), median(&rates))
    };
    debug_assert!(end.is_ok(), "writing to a string never fails");
    row.push('\n');
    row
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values = values.collect::<Vec<_>>();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => (sorted[len / 2 - 1] + sorted[len / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cost: f64, rate: f64) -> Sample {
        Sample { cost, rate: Some(rate) }
    }

    #[test]
    fn ratios_are_those_of_pairs() {
        // the machine was busy in the second run: both took twice as long
        let pairs = [(sample(1.0, 8.0), sample(3.0, 4.0)), (sample(2.0, 4.0), sample(6.0, 2.0))];
        let row = row(Load::Churn(4), &pairs, "0");
        assert!(row.contains("| 1.50 | 4.50 | **3.00** (3.00-3.00) | 2x | 6 | 3 | **0.50** | 0 |"), "{row}");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
    }
}
