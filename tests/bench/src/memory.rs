//! What criterion measures of files in memory, with its bars.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::table::{self, Table};

/// The benchmark.
const BENCHMARK: &str = "memory";

/// What each operation is called there and here, and the microseconds that it must stay under.
const ROWS: [(&str, &str, Option<u64>); 6] = [
    ("memory/read", "read of 2 KB", Some(2)),
    ("memory/write", "write of 2 KB", Some(10)),
    ("memory/fork", "fork", Some(10)),
    ("memory/fork_and_write", "fork, and a write in it", None),
    (
        "memory_head/checkpoint",
        "checkpoint of a head after a write",
        None,
    ),
    (
        "memory_head/status_10_changed",
        "status of a head, 10 changed",
        None,
    ),
];

/// Runs the benchmark and adds its results.
pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let target = target()?;
    let results = target.join("criterion");
    let kept = |id: &str| results.join(id).join("new/estimates.json");
    // An earlier result must not pass for one of this run.
    for (id, ..) in ROWS {
        match std::fs::remove_file(kept(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    run(&target, &results)?;
    for (id, operation, micros) in ROWS {
        let estimates =
            std::fs::read(kept(id)).with_context(|| format!("criterion kept no result of {id}"))?;
        let (median, deviation) = estimated(&estimates)?;
        let what = format!("{operation} in memory, 100,000 files, by criterion");
        let figure = format!("{} ± {}", table::shown(median), table::shown(deviation));
        if let Some(micros) = micros {
            let most = Duration::from_micros(micros);
            table.figure_within(what, figure, &format!("< {most:?}"), median < most);
        } else {
            table.note(what, figure);
        }
    }
    Ok(())
}

/// The folder that this program was built in.
fn target() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2);
    Ok(target.context("the program is in a folder")?.to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that runs the benchmark"
)]
fn run(target: &Path, results: &Path) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["bench", "--package", env!("CARGO_PKG_NAME")])
        .arg("--target-dir")
        .arg(target)
        .args(["--bench", BENCHMARK, "--", "--noplot"])
        .env("CRITERION_HOME", results)
        .stdin(Stdio::null())
        // What this program prints there is the table alone.
        .stdout(std::io::stderr())
        .status()
        .context("cargo cannot be run")?;
    ensure!(status.success(), "the benchmark {BENCHMARK} failed");
    Ok(())
}

/// The median, and the median distance from it.
fn estimated(estimates: &[u8]) -> anyhow::Result<(Duration, Duration)> {
    let estimates: Value = serde_json::from_slice(estimates)?;
    let nanos = |name: &str| {
        let point = estimates[name]["point_estimate"].as_f64();
        point.with_context(|| format!("criterion estimated no {name}"))
    };
    let time = |nanos: f64| Duration::try_from_secs_f64(nanos / 1e9);
    Ok((time(nanos("median")?)?, time(nanos("median_abs_dev")?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criterion_tells_nanoseconds() {
        let estimates = br#"{"mean": {"point_estimate": 9.0},
            "median": {"point_estimate": 1234.4}, "median_abs_dev": {"point_estimate": 20.0}}"#;
        let told = estimated(estimates).unwrap();
        assert_eq!(told, (Duration::from_nanos(1234), Duration::from_nanos(20)));
        assert!(estimated(b"{}").is_err());
    }
}
