/// When the engine keeps the files of a session's head, so that the session can be forked from and taken back to the
/// end of any turn.
///
/// A head that keeps no states, such as a plain folder, costs nothing but the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CheckpointPolicy {
    /// At the end of every turn: also what others have changed meanwhile is noticed then.
    EveryTurn,
    /// At the end of every turn that called a tool which may change files, and once before the first of them.
    #[default]
    OnChange,
    /// As [`OnChange`](Self::OnChange), but after the first time only the paths are looked at that the session itself
    /// changed through its file tools: what that costs does not depend on how many files the head has.
    ///
    /// For heads that nobody but the session changes. What somebody else changed meanwhile is in the record of a
    /// turn's end only after something looked at everything: a tool that is no file tool and may change files, a
    /// checkpoint or restore asked for by hand, or the session's next process. No work is lost by it, and a head with
    /// several sessions is always looked at whole.
    OwnChanges,
    /// Never.
    Off,
}
