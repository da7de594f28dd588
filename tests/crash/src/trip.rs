use crate::place::Kind;

/// Something that a child does between two turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trip {
    /// Goes back to the end of some turn.
    Rewind,
    /// Makes another session of this one.
    Fork,
    /// Commits the head's work on its branch.
    Commit,
    /// Merges the head's work into a branch.
    Merge,
    /// Makes a session, deletes it, and destroys its head.
    Discard,
    /// Brings a branch into the head.
    Update,
    /// Brings a branch into the head that conflicts with it, and resolves that.
    Clash,
    /// Forgets all checkpoints but the last.
    Prune,
    /// Makes a session, and archives its head.
    Archive,
}

impl Trip {
    const ALL: [Self; 9] = [
        Self::Rewind,
        Self::Fork,
        Self::Commit,
        Self::Merge,
        Self::Discard,
        Self::Update,
        Self::Clash,
        Self::Prune,
        Self::Archive,
    ];

    /// Whether it can be made on this kind of head.
    pub(crate) fn is_open(self, kind: Kind) -> bool {
        match self {
            Self::Discard => true,
            Self::Rewind | Self::Fork => kind != Kind::Directory,
            Self::Commit
            | Self::Merge
            | Self::Update
            | Self::Clash
            | Self::Prune
            | Self::Archive => kind == Kind::Git,
        }
    }

    /// Those that can be made on this kind of head.
    pub(crate) fn all(kind: Kind) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|trip| trip.is_open(kind)).collect()
    }
}

impl std::fmt::Display for Trip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rewind => "rewind",
            Self::Fork => "fork",
            Self::Commit => "commit",
            Self::Merge => "merge",
            Self::Discard => "discard",
            Self::Update => "update",
            Self::Clash => "clash",
            Self::Prune => "prune",
            Self::Archive => "archive",
        })
    }
}
