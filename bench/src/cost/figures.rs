//! The committed figures: upper bounds on the cost of one unit of each mode. A commit that raises one says why.

use anyhow::{Context, bail, ensure};

use super::{Cost, Mode};

/// One `mode allocations bytes` per line.
const FIGURES: &str = include_str!("../../cost.txt");

/// Checks that a mode costs no more than its committed figure.
///
/// # Errors
///
/// Names the count that exceeds its figure.
pub(crate) fn check(mode: Mode, cost: Cost) -> anyhow::Result<()> {
    hold(cost, figure(FIGURES, mode)?)
        .with_context(|| format!("{} exceeds its figure in bench/cost.txt", mode.name()))
}

fn hold(cost: Cost, figure: Cost) -> anyhow::Result<()> {
    let Cost { allocations, bytes } = cost;
    ensure!(
        allocations <= figure.allocations,
        "{allocations} allocations, at most {} are allowed",
        figure.allocations
    );
    ensure!(bytes <= figure.bytes, "{bytes} bytes, at most {} are allowed", figure.bytes);
    Ok(())
}

fn figure(text: &str, mode: Mode) -> anyhow::Result<Cost> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        if let [name, allocations, bytes] = line.split_whitespace().collect::<Vec<_>>()[..]
            && name == mode.name()
        {
            return Ok(Cost { allocations: allocations.parse()?, bytes: bytes.parse()? });
        }
    }
    bail!("bench/cost.txt has no figure for {}", mode.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_a_figure() {
        for mode in Mode::ALL {
            assert!(figure(FIGURES, mode).unwrap().allocations > 0.0, "{}", mode.name());
        }
        assert!(figure("# session 1 1\n", Mode::Session).is_err());
    }

    #[test]
    fn more_than_the_figure_fails_and_as_much_does_not() {
        let figure = Cost { allocations: 20.0, bytes: 1000.0 };
        assert!(hold(figure, figure).is_ok());
        assert!(hold(Cost { allocations: 20.01, ..figure }, figure).is_err());
        assert!(hold(Cost { bytes: 1000.5, ..figure }, figure).is_err());
    }
}
