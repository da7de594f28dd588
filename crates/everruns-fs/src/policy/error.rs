/// Why no policy could be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A text that is no glob.
    #[error("`{}` is no glob: {source}", glob.escape_debug())]
    InvalidGlob {
        /// The text as given.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A glob that could only match outside the namespace.
    #[error("`{}` matches nothing in the namespace: {reason}", glob.escape_debug())]
    OutsideNamespace {
        /// The text as given.
        glob: String,
        /// Why it matches nothing.
        reason: &'static str,
    },
}
