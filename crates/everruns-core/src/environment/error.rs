/// An environment that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// No head was chosen.
    #[error("the environment has no head: call `workspace(head)` first")]
    MissingHead,
    /// A second head was chosen.
    #[error("the environment has a head already: one environment has exactly one")]
    HeadAlreadyChosen,
    /// A second extension of the same type was given.
    #[error("the environment has an extension of type {type_name} already")]
    DuplicateExtension {
        /// The type's name.
        type_name: &'static str,
    },
    /// A second compute was given.
    #[error("the environment has a compute already")]
    DuplicateCompute,
}
