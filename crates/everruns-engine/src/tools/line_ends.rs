use schemars::JsonSchema;
use serde::Serialize;

use super::text::Text;

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineEnds {
    /// All with LF, or there is none.
    Lf,
    /// All with CR LF.
    Crlf,
    /// Some so and some so.
    Mixed,
}

impl LineEnds {
    pub(super) fn of(text: &Text) -> Self {
        match text.line_ends() {
            (0, _) => Self::Lf,
            (crlf, all) if crlf == all => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}
