use everruns_core::ids::SessionId;
use everruns_core::session::{EventPayload, Sequence};
use everruns_core::workspace::WorkspaceCheckpoint;

/// Something of several steps that was begun between turns, as the events tell it. It is finished or given up before
/// anything else happens in the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Files and conversation go back.
    Rewind {
        to: Sequence,
        checkpoint: Option<WorkspaceCheckpoint>,
    },
    /// Another session is made of this one.
    Fork(Wish),
}

/// The fork to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// The session to be made.
    pub(crate) session: SessionId,
    /// The name of its head.
    pub(crate) head: String,
    /// The last event that it takes over.
    pub(crate) through: Sequence,
    /// Its files; the present ones when none.
    pub(crate) checkpoint: Option<WorkspaceCheckpoint>,
}

impl Intent {
    /// What is begun after `event`.
    pub(super) fn apply(intent: &mut Option<Self>, event: &EventPayload) {
        match event {
            EventPayload::RewindBegun { to, checkpoint } => {
                *intent = Some(Self::Rewind {
                    to: *to,
                    checkpoint: checkpoint.clone(),
                });
            }
            EventPayload::ForkBegun {
                session,
                head,
                through,
                checkpoint,
            } => {
                *intent = Some(Self::Fork(Wish {
                    session: session.clone(),
                    head: head.clone(),
                    through: *through,
                    checkpoint: checkpoint.clone(),
                }));
            }
            EventPayload::Rewound { .. }
            | EventPayload::RewindFailed { .. }
            | EventPayload::ForkEnded { .. }
            // The copied events of a fork end with the source's intent at most.
            | EventPayload::Forked { .. }
            // What became of it after the backup is not known here, and the files, which may be newer, stay.
            | EventPayload::RecordRestored => *intent = None,
            _ => {}
        }
    }
}
