//! The parent: starts children, kills them, and has what is left checked.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use everruns::SessionId;
use everruns_testkit::git::GitFixture;
use std::os::unix::process::ExitStatusExt as _;

use crate::check::Ledger;
use crate::child::Seen;
use crate::failpoints::FAILPOINTS;
use crate::place::{Kind, Place};
use crate::random::Random;
use crate::report::Report;

/// A child that takes longer is a failure.
const PATIENCE: Duration = Duration::from_mins(1);

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that has the child's role.
    pub program: PathBuf,
    /// How many children are killed.
    pub rounds: u64,
    /// Where the random choices begin.
    pub seed: u64,
    /// The kinds of heads, in turns.
    pub kinds: Vec<Kind>,
    /// The database, unless it is SQLite.
    pub postgres: Option<String>,
}

/// Runs all rounds.
///
/// # Errors
/// The first thing that is not as it should be, with the seed of its round.
pub async fn run(options: &Options) -> anyhow::Result<Report> {
    let began = Instant::now();
    let mut report = Report::default();
    let mut worlds = Vec::new();
    for &kind in &options.kinds {
        worlds.push(World::new(kind, options)?);
    }
    ensure!(!worlds.is_empty(), "no kind of head is chosen");
    for round in 0..options.rounds {
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(round);
        let index = usize::try_from(round).unwrap_or_default() % worlds.len();
        let world = &mut worlds[index];
        let kind = world.place.kind;
        world.round(seed, &mut report).await.with_context(|| {
            let locks = world.locks();
            format!(
                "round {round} (round seed {seed}, {kind} heads; run again with --seed {} --rounds {}); lock files \
                 that are left: {locks:?}",
                options.seed,
                round + 1
            )
        })?;
    }
    report.rounds = options.rounds;
    report.took = began.elapsed();
    Ok(report)
}

/// Everything of one kind of head.
struct World {
    place: Place,
    program: PathBuf,
    ledger: Ledger,
    /// The session that the next child may go on with.
    session: Option<SessionId>,
    _project: Option<GitFixture>,
    _folder: Option<tempfile::TempDir>,
}

/// How a child is to end.
#[derive(Clone, Copy, Debug)]
enum End {
    At(&'static str, u64),
    After(Duration),
}

impl World {
    fn new(kind: Kind, options: &Options) -> anyhow::Result<Self> {
        let (project, scratch, folder) = if kind == Kind::Git {
            let project = GitFixture::sample();
            let folder = project
                .path()
                .parent()
                .context("a project is in a folder")?
                .to_owned();
            std::fs::rename(project.path(), folder.join("project"))?;
            (Some(project), None, folder)
        } else {
            let scratch = tempfile::tempdir()?;
            std::fs::create_dir(scratch.path().join("project"))?;
            let folder = scratch.path().to_owned();
            (None, Some(scratch), folder)
        };
        let place = Place {
            kind,
            folder,
            postgres: options.postgres.clone(),
        };
        Ok(Self {
            ledger: Ledger::new(&place)?,
            place,
            program: options.program.clone(),
            session: None,
            _project: project,
            _folder: scratch,
        })
    }

    async fn round(&mut self, seed: u64, report: &mut Report) -> anyhow::Result<()> {
        let mut random = Random::new(seed ^ 0x5eed);
        if random.percent(25) {
            self.session = None;
        }
        let end = if random.percent(65) {
            self.step(&mut random)
        } else {
            End::After(Duration::from_millis(random.below(250)))
        };
        self.ledger.look(&self.place).await?;
        let (seen, status) = self.child(seed, end).await?;
        match (end, status.signal()) {
            (End::At(step, _), Some(9)) => *report.at_steps.entry(step).or_default() += 1,
            (End::After(_), Some(9)) => report.at_random += 1,
            _ if status.success() => report.finished += 1,
            _ => bail!("the child ended with {status} ({end:?})"),
        }
        report.acknowledged += seen
            .iter()
            .filter(|seen| matches!(seen, Seen::Event(_)))
            .count() as u64;
        let active = seen.iter().find_map(|seen| match seen {
            Seen::Active { session } => Some(session.clone()),
            _ => None,
        });
        let before = self.session.take().or(active);
        let left = self
            .ledger
            .check(&self.place, before, &seen, seed)
            .await
            .with_context(|| format!("{end:?}"))?;
        report.resumed += u64::from(left.session.is_some());
        report.unknown += left.unknown;
        self.session = left.session;
        Ok(())
    }

    /// The lock files of Git that a killed process has left.
    fn locks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.place.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path
                    .extension()
                    .is_some_and(|extension| extension == "lock")
                {
                    found.push(path);
                }
            }
        }
        found
    }

    /// A step that the child will most likely reach, given the session that it goes on with.
    fn step(&mut self, random: &mut Random) -> End {
        loop {
            let step = *random.pick::<&str>(FAILPOINTS);
            let group = step.rsplit_once('.').map_or(step, |(group, _)| group);
            let nth = match group {
                "engine.fork" | "engine.rewind" | "store.fork" | "git.create"
                | "git.checkpoint" | "git.restore"
                    if self.place.kind != Kind::Git =>
                {
                    continue;
                }
                "engine.resume" if self.session.is_none() => continue,
                "engine.resume" | "engine.fork" | "engine.rewind" | "store.fork"
                | "git.restore" => 1,
                "engine.start" | "store.bind" | "git.create" => {
                    self.session = None;
                    1
                }
                _ => 1 + random.below(5),
            };
            return End::At(step, nth);
        }
    }

    /// Runs a child to its end, and gives what it wrote.
    #[expect(
        clippy::disallowed_methods,
        reason = "the harness runs its own program, to kill it"
    )]
    async fn child(&self, seed: u64, end: End) -> anyhow::Result<(Vec<Seen>, ExitStatus)> {
        let output = tempfile::NamedTempFile::new()?;
        let mut command = std::process::Command::new(&self.program);
        command
            .arg("child")
            .args(["--kind", &self.place.kind.to_string()])
            .arg("--folder")
            .arg(&self.place.folder)
            .args(["--seed", &seed.to_string()])
            .stdin(Stdio::null())
            .stdout(output.reopen()?);
        if let Some(url) = &self.place.postgres {
            command.args(["--postgres", url]);
        }
        if let Some(session) = &self.session {
            command.args(["--session", session.as_str()]);
        }
        if let End::At(step, nth) = end {
            command.args(["--kill-at", step, "--nth", &nth.to_string()]);
        }
        let mut child = command.spawn()?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let due = match end {
                End::After(moment) => began.elapsed() >= moment,
                End::At(..) => began.elapsed() >= PATIENCE,
            };
            if due {
                child.kill()?;
                let status = child.wait()?;
                ensure!(matches!(end, End::After(_)), "the child hangs ({end:?})");
                break status;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        let text = String::from_utf8(std::fs::read(output.path())?)?;
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let seen = whole
            .lines()
            .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
            .collect::<anyhow::Result<_>>()?;
        Ok((seen, status))
    }
}
