//! The named steps at which children are killed.

use crate::place::Kind;
use crate::trip::Trip;

/// What a child must do, and on which head, for a step to be passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Begin a session.
    Start,
    /// Begin a session on a new worktree.
    StartOnGit,
    /// Go on with a session.
    Resume,
    /// Any turn.
    Turn,
    /// A turn that works on files of the host.
    TurnOnDisk,
    /// A turn on a worktree.
    TurnOnGit,
    /// Something between two turns.
    Trip(Trip),
    /// The same, on a worktree.
    TripOnGit(Trip),
    /// The same, in a session that has had turns in other processes.
    LaterOnGit(Trip),
}

impl Way {
    /// The way to the step: the first entry that its name begins with.
    pub(crate) fn to(step: &str) -> Option<Self> {
        let found = WAYS.iter().find(|(start, _)| step.starts_with(start));
        found.map(|(_, way)| *way)
    }

    /// Whether it can be gone with this kind of head.
    pub(crate) fn is_open(self, kind: Kind) -> bool {
        match self {
            Self::Start | Self::Resume | Self::Turn => true,
            Self::TurnOnDisk => kind != Kind::Memory,
            Self::StartOnGit | Self::TurnOnGit | Self::TripOnGit(_) | Self::LaterOnGit(_) => {
                kind == Kind::Git
            }
            Self::Trip(trip) => trip.is_open(kind),
        }
    }

    /// Whether it needs a session that is there already.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Resume | Self::LaterOnGit(_))
    }

    pub(crate) fn trip(self) -> Option<Trip> {
        match self {
            Self::Trip(trip) | Self::TripOnGit(trip) | Self::LaterOnGit(trip) => Some(trip),
            _ => None,
        }
    }
}

const WAYS: &[(&str, Way)] = &[
    ("engine.start", Way::Start),
    ("store.bind", Way::Start),
    ("git.create", Way::StartOnGit),
    ("engine.resume", Way::Resume),
    ("engine.turn", Way::Turn),
    ("store.append", Way::Turn),
    ("model.stream", Way::Turn),
    ("fs.", Way::TurnOnDisk),
    ("git.checkpoint", Way::TurnOnGit),
    ("engine.rewind", Way::Trip(Trip::Rewind)),
    ("engine.fork", Way::Trip(Trip::Fork)),
    ("store.fork", Way::Trip(Trip::Fork)),
    ("engine.delete", Way::Trip(Trip::Discard)),
    ("store.delete", Way::Trip(Trip::Discard)),
    ("git.restore", Way::TripOnGit(Trip::Rewind)),
    ("git.commit", Way::TripOnGit(Trip::Commit)),
    ("git.merge", Way::TripOnGit(Trip::Merge)),
    ("git.advance", Way::TripOnGit(Trip::Merge)),
    ("git.destroy", Way::TripOnGit(Trip::Discard)),
    ("git.update", Way::TripOnGit(Trip::Update)),
    ("git.prune", Way::TripOnGit(Trip::Prune)),
    ("git.archive", Way::TripOnGit(Trip::Archive)),
    ("git.index", Way::TripOnGit(Trip::Rewind)),
    ("git.refs.after-locks", Way::LaterOnGit(Trip::Prune)),
    ("git.refs.after-packed", Way::LaterOnGit(Trip::Prune)),
    ("git.refs.after-loose", Way::LaterOnGit(Trip::Prune)),
    ("git.refs.after-deletion", Way::LaterOnGit(Trip::Prune)),
    ("git.refs", Way::TurnOnGit),
];

/// All steps of the engine, the stores, the files and the Git heads that a child's work passes.
pub const FAILPOINTS: &[&str] = &[
    "engine.start.after-create",
    "engine.start.after-bind",
    "engine.start.after-claim",
    "engine.start.after-lease",
    "engine.start.after-started",
    "engine.turn.after-user-message",
    "engine.turn.after-assistant-message",
    "engine.turn.after-tool-before-result",
    "engine.turn.after-result",
    "engine.turn.before-end",
    "engine.resume.after-reopen",
    "engine.resume.after-claim",
    "engine.resume.after-lease",
    "engine.resume.after-repair",
    "engine.rewind.after-intent",
    "engine.rewind.after-files",
    "engine.rewind.after-record",
    "engine.fork.after-intent",
    "engine.fork.after-head",
    "engine.fork.after-claim",
    "engine.fork.after-files",
    "engine.fork.after-session",
    "engine.delete.after-release",
    "model.stream.before-first-piece",
    "model.stream.between-pieces",
    "store.bind.before-commit",
    "store.bind.after-commit",
    "store.append.before-commit",
    "store.append.after-commit",
    "store.fork.before-commit",
    "store.fork.after-commit",
    "store.delete.before-commit",
    "store.delete.after-commit",
    "fs.write.before-lock",
    "fs.write.after-check",
    "fs.write.after-note",
    "fs.write.after-temp",
    "fs.write.after-bytes",
    "fs.write.after-flush",
    "fs.write.before-exchange",
    "fs.write.after-exchange",
    "fs.write.after-rename",
    "fs.write.after-folder-flush",
    "fs.remove.after-check",
    "fs.remove.before-move",
    "fs.remove.after-move",
    "fs.remove.after-unlink",
    "fs.remove.between-entries",
    "fs.rename.after-rename",
    "git.checkpoint.after-trees",
    "git.checkpoint.after-commit",
    "git.checkpoint.after-flush",
    "git.checkpoint.after-reference",
    "git.commit.after-trees",
    "git.commit.after-commit",
    "git.commit.after-flush",
    "git.restore.after-checkpoint",
    "git.restore.after-intent",
    "git.restore.after-removals",
    "git.restore.after-files",
    "git.restore.after-index",
    "git.restore.after-branch",
    "git.create.after-intent",
    "git.create.after-name",
    "git.create.after-branch",
    "git.create.after-record",
    "git.create.after-checkout",
    "git.create.after-ignored",
    "git.create.after-index",
    "git.create.after-ready",
    "git.merge.after-work",
    "git.merge.after-commit",
    "git.merge.after-flush",
    "git.advance.after-notes",
    "git.advance.after-flush",
    "git.advance.after-intent",
    "git.advance.after-removals",
    "git.advance.after-files",
    "git.advance.after-index",
    "git.advance.after-branch",
    "git.destroy.after-preparation",
    "git.destroy.after-intent",
    "git.destroy.after-aside",
    "git.destroy.after-checkpoint",
    "git.destroy.after-references",
    "git.destroy.after-move",
    "git.destroy.after-record",
    "git.destroy.after-state",
    "git.destroy.after-clear",
    "git.update.after-commit",
    "git.update.after-flush",
    "git.prune.after-needed",
    "git.prune.after-choice",
    "git.prune.after-references",
    "git.archive.before-record",
    "git.archive.after-record",
    "git.index.after-announcement",
    "git.index.after-lock",
    "git.index.after-temporary",
    "git.index.after-replacement",
    "git.refs.after-lock",
    "git.refs.after-log",
    "git.refs.after-replacement",
    "git.refs.after-locks",
    "git.refs.after-packed-lock",
    "git.refs.after-packed",
    "git.refs.after-loose",
    "git.refs.after-deletion",
];

/// Steps that no child passes, each with the reason.
pub const ELSEWHERE: &[(&str, &str)] = &[
    (
        "git.restore.before-undo",
        "comes after a step that failed; `undo.rs` of the Git heads' tests stops there",
    ),
    (
        "git.intent.after-save",
        "the record is there, as at the step that follows; `failed.rs` of the Git heads' tests fails there",
    ),
    (
        "engine.delete.after-fork",
        "comes when a fork was begun by another process that was killed; `main.rs` of the engine's failpoint tests fails there",
    ),
    (
        "fs.read.after-look",
        "nothing changes while a file is read; `steps.rs` of the files' tests rewrites it there",
    ),
    ("fs.rename.after-check", REPLACING_MOVE),
    ("fs.rename.after-note", REPLACING_MOVE),
    ("fs.rename.after-exchange", REPLACING_MOVE),
    ("fs.link.before-lock", LINK),
    ("fs.link.after-check", LINK),
    ("fs.link.after-note", LINK),
    ("fs.link.after-temp", LINK),
    ("fs.link.after-rename", LINK),
    ("fs.link.after-folder-flush", LINK),
    ("fs.write.before-undo", PUT_BACK),
    ("fs.remove.before-undo", PUT_BACK),
    ("git.objects.after-pack", PACK),
    ("git.objects.after-index", PACK),
    ("store.replace.after-lock", REPLACEMENT),
    ("store.replace.before-exchange", REPLACEMENT),
    ("store.replace.after-exchange", REPLACEMENT),
    ("store.replace.before-exchange-back", REPLACEMENT),
    ("store.replace.after-rename", REPLACEMENT),
    ("store.replace.after-second-names", REPLACEMENT),
    ("store.replace.after-log", REPLACEMENT),
];

const PUT_BACK: &str = "comes when another program saves in the same moment; `steps.rs` of the files' tests fails there";

const REPLACING_MOVE: &str = "comes when a file is moved over another one, which these scripts do not; `moves.rs` of the files' tests fails there";

const LINK: &str = "comes when a link is moved to another mount, of which these scripts have none; `links.rs` of the files' tests fails and is killed there";

const PACK: &str = "a pack takes more new objects than these scripts make; `crash.rs` of the Git heads' tests kills there";

const REPLACEMENT: &str = "putting a backup in place needs a store that nobody uses; `replace.rs` of the stores' tests kills there";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_way_on_some_head() {
        for step in FAILPOINTS {
            let way = Way::to(step);
            let open = way.is_some_and(|way| Kind::ALL.iter().any(|kind| way.is_open(*kind)));
            assert!(open, "{step}");
        }
    }
}
