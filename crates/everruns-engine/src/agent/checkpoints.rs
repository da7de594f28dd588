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
    /// Never.
    Off,
}
