//! Where the checks run: the workspace root, the target folder, and whether this is CI.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::command::Command;

/// The surroundings that every check needs.
#[derive(Debug)]
pub(crate) struct Context {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// The folder that all builds share, the consumer's and the README's included.
    pub(crate) target: PathBuf,
    /// `CI=true`: a tool that is missing is a failure, and the lock file may not change.
    pub(crate) ci: bool,
}

impl Context {
    /// Reads the surroundings from the environment that `cargo run` sets.
    pub(crate) fn discover() -> anyhow::Result<Self> {
        // Cargo says where the checkout is now; two that share a target folder share this program.
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest_dir
            .parent()
            .context("the xtask crate lies directly below the workspace root")?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        let ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        Ok(Self { root, target, ci })
    }

    /// `cargo <subcommand>` in the workspace root, with the shared target folder.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Command::new(cargo, &self.root)
            .arg(subcommand)
            .quiet_env("CARGO_TARGET_DIR", &self.target)
    }

    /// As [`Self::cargo`], for subcommands that resolve dependencies: CI refuses a stale lock file.
    pub(crate) fn cargo_locked(&self, subcommand: &str) -> Command {
        let command = self.cargo(subcommand);
        if self.ci {
            command.arg("--locked")
        } else {
            command
        }
    }

    /// Whether `cargo <subcommand> --version` works.
    pub(crate) fn has_cargo_tool(&self, subcommand: &str) -> bool {
        self.cargo(subcommand)
            .arg("--version")
            .capture()
            .is_ok_and(|captured| captured.success)
    }
}
