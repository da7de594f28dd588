/// What a backend offers beyond the least. What it does not offer, it refuses as `Unsupported`, which the
/// suite checks instead.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent yes or no of a backend"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// It makes isolated heads.
    pub isolated: bool,
    /// It makes shared heads.
    pub shared: bool,
    /// A workspace has any number of heads, each with its own files.
    pub many_heads: bool,
    /// It can tell what changed: `status` and `diff`.
    pub tracks_changes: bool,
    /// `checkpoint`, `restore` and `checkpoints`.
    pub checkpoints: bool,
    /// `fork`.
    pub forks: bool,
    /// `destroy`.
    pub destroys: bool,
    /// `archive` and `unarchive_head`.
    pub archives: bool,
    /// Heads are made from revisions; unknown ones are refused.
    pub revisions: bool,
    /// The branch that `merge_into` can move, if it can; a head made by default starts from it.
    pub merges_into: Option<String>,
    /// `commit` and `update_from`.
    pub commits: bool,
    /// `patch`. The checks apply what it gives with the program `git`.
    pub patches: bool,
}

impl Default for Capabilities {
    /// Everything but revisions, merges, commits and patches.
    fn default() -> Self {
        Self {
            isolated: true,
            shared: true,
            many_heads: true,
            tracks_changes: true,
            checkpoints: true,
            forks: true,
            destroys: true,
            archives: true,
            revisions: false,
            merges_into: None,
            commits: false,
            patches: false,
        }
    }
}
