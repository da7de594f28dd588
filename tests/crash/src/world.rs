use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use everruns::{CheckpointPolicy, SessionId};
use std::os::unix::process::ExitStatusExt as _;

use crate::check::{Done, Ledger};
use crate::child::Seen;
use crate::failpoints::Way;
use crate::place::{Kind, Place, checkpoints};
use crate::project::Project;
use crate::random::Random;
use crate::report::Report;
use crate::round::{Options, Share};
use crate::trip::Trip;

/// How many of a hundred children have a rival, where they can.
const CONTENDED: u64 = 30;

/// A child that takes longer is a failure.
const PATIENCE: Duration = Duration::from_mins(2);

/// Everything of one kind of head.
pub(crate) struct World {
    pub(crate) place: Place,
    program: PathBuf,
    share: Share,
    ledger: Ledger,
    /// The session that the next child may go on with.
    session: Option<SessionId>,
    project: Option<Project>,
    _folder: Option<tempfile::TempDir>,
}

/// How a child is to end.
#[derive(Clone, Copy, Debug)]
enum End {
    At {
        step: &'static str,
        nth: u64,
        trip: Option<Trip>,
    },
    After(Duration),
}

impl World {
    pub(crate) fn new(kind: Kind, options: &Options) -> anyhow::Result<Self> {
        let (project, scratch, folder) = if kind == Kind::Git {
            let project = Project::new()?;
            let folder = project.parent().to_owned();
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
            share: options.share,
            session: None,
            project,
            _folder: scratch,
        })
    }

    /// One child; killed at a step in any case when it is `aimed`.
    pub(crate) async fn round(
        &mut self,
        seed: u64,
        aimed: bool,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let mut random = Random::new(seed ^ 0x5eed);
        if random.percent(25) {
            self.session = None;
        }
        let end = if random.percent(65) || aimed {
            self.aim(&mut random, report)?
        } else {
            End::After(Duration::from_millis(random.below(250)))
        };
        if let Some(project) = &mut self.project {
            let step = match end {
                End::At { step, .. } => step,
                End::After(_) => "",
            };
            let followed = step.starts_with("git.advance") || random.percent(50);
            let packed = step == "git.refs.after-packed-lock" || random.percent(20);
            project.prepare(seed, followed, packed)?;
        }
        let contended = random.percent(CONTENDED) && self.can_be_contended(end);
        self.ledger.look(&self.place).await?;
        let (seen, status) = self.child(seed, end, contended).await?;
        match (end, status.signal()) {
            (End::At { step, .. }, Some(9)) => report.hit(step),
            (End::After(_), Some(9)) => report.at_random += 1,
            _ if status.success() => report.finished += 1,
            _ => bail!("the child ended with {status} ({end:?})"),
        }
        report.count(&seen);
        let policy = checkpoints(self.place.kind, seed);
        report.own_changes += u64::from(policy == CheckpointPolicy::OwnChanges);
        let active = seen.iter().find_map(|seen| match seen {
            Seen::Active { session } => Some(session.clone()),
            _ => None,
        });
        let before = self.session.take().or(active);
        let done = Done {
            place: &self.place,
            project: self.project.as_ref(),
            session: before.as_ref(),
            seen: &seen,
            seed,
        };
        let checked = self.ledger.check(done).await;
        let left = checked.with_context(|| format!("{end:?}"))?;
        report.resumed += u64::from(left.session.is_some());
        report.sources += u64::from(left.deleted);
        report.unknown += left.unknown;
        self.session = left.session;
        Ok(())
    }

    /// The lock files of Git that a killed process has left.
    pub(crate) fn locks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.place.folder.clone()];
        let ours = self.place.folder.join("state/locks");
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() && !path.is_symlink() && path != ours {
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

    /// A step that the child will most likely reach: one of those that were hit and tried least.
    fn aim(&mut self, random: &mut Random, report: &mut Report) -> anyhow::Result<End> {
        let mut least = u64::MAX;
        let mut steps: Vec<(&'static str, Way)> = Vec::new();
        for step in self.share.steps() {
            let way = Way::to(step).with_context(|| format!("there is no way to {step}"))?;
            if !way.is_open(self.place.kind) || (way.goes_on() && self.session.is_none()) {
                continue;
            }
            let weight = report.weight(step);
            if weight < least {
                steps.clear();
                least = weight;
            }
            if weight == least {
                steps.push((step, way));
            }
        }
        let (step, way) = *random.pick(&steps);
        let often = match way {
            Way::Start | Way::StartOnGit => {
                self.session = None;
                1
            }
            Way::Turn | Way::TurnOnDisk | Way::TurnOnGit => 1 + report.hits(step).min(4),
            Way::Resume | Way::Trip(_) | Way::TripOnGit(_) | Way::LaterOnGit(_) => 1,
        };
        report.aim(step);
        Ok(End::At {
            step,
            nth: 1 + random.below(often),
            trip: match way.trip() {
                Some(Trip::Update) if random.percent(50) => Some(Trip::Clash),
                trip => trip,
            },
        })
    }

    /// Whether another process can wait for the child's session: its head is there for both, and all that the child
    /// does is on record.
    fn can_be_contended(&self, end: End) -> bool {
        let trip = match end {
            End::At { step, trip, .. } => trip.is_some() || step.starts_with("engine.start"),
            End::After(_) => false,
        };
        self.place.kind != Kind::Memory && !trip
    }

    /// A child of this seed that has not been started.
    #[expect(
        clippy::disallowed_methods,
        reason = "the harness runs its own program, to kill it"
    )]
    fn command(&self, seed: u64, output: &tempfile::NamedTempFile) -> anyhow::Result<Command> {
        let mut command = Command::new(&self.program);
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
        if let Some(project) = &self.project {
            command.args(["--branch", project.target()]);
        }
        Ok(command)
    }

    /// Starts a process that waits for the session of the child.
    fn rival(&self, seed: u64, seen: &[Seen]) -> anyhow::Result<Option<Rival>> {
        let Some(Seen::Active { session }) = seen.first() else {
            return Ok(None);
        };
        let output = tempfile::NamedTempFile::new()?;
        let mut command = self.command(seed, &output)?;
        command.args(["--rival", "--session", session.as_str()]);
        let child = command.spawn()?;
        Ok(Some(Rival { child, output }))
    }

    /// Runs a child to its end, and its rival if it is to have one; gives what they wrote.
    async fn child(
        &self,
        seed: u64,
        end: End,
        contended: bool,
    ) -> anyhow::Result<(Vec<Seen>, ExitStatus)> {
        let output = tempfile::NamedTempFile::new()?;
        let mut command = self.command(seed, &output)?;
        if let Some(session) = &self.session {
            command.args(["--session", session.as_str()]);
        }
        if contended {
            command.arg("--contended");
        }
        if let End::At { step, nth, trip } = end {
            command.args(["--kill-at", step, "--nth", &nth.to_string()]);
            if let Some(trip) = trip {
                command.args(["--trip", &trip.to_string()]);
            }
        }
        let mut child = command.spawn()?;
        let began = Instant::now();
        let mut rival = None;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let due = match end {
                End::After(moment) => began.elapsed() >= moment,
                End::At { .. } => began.elapsed() >= PATIENCE,
            };
            if due {
                child.kill()?;
                let status = child.wait()?;
                ensure!(matches!(end, End::After(_)), "the child hangs ({end:?})");
                break status;
            }
            if contended && rival.is_none() {
                rival = self.rival(seed, &read(&output)?)?;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        let mut seen = read(&output)?;
        if let Some(rival) = rival {
            seen.extend(rival.end().await?);
        }
        Ok((seen, status))
    }
}

/// A process that waits for the session of a child.
struct Rival {
    child: Child,
    output: tempfile::NamedTempFile,
}

impl Rival {
    /// It gets the session once the child is gone, and has its turn.
    async fn end(mut self) -> anyhow::Result<Vec<Seen>> {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if began.elapsed() >= PATIENCE {
                self.child.kill()?;
                self.child.wait()?;
                bail!("the rival hangs");
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        ensure!(status.success(), "the rival ended with {status}");
        read(&self.output)
    }
}

/// What a process has written so far, in whole lines.
fn read(output: &tempfile::NamedTempFile) -> anyhow::Result<Vec<Seen>> {
    let text = String::from_utf8_lossy(&std::fs::read(output.path())?).into_owned();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let seen = whole
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()));
    seen.collect()
}
