use everruns_core::path::RootName;

/// Why a root cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// The set has a root of that name.
    #[error("there is a root named `{name}` already: choose another name")]
    Duplicate {
        /// The name.
        name: RootName,
    },
}
