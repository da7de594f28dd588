//! Names for heads that nobody has chosen one for.

use everruns::{WorkspaceHeadDescriptor, WorkspaceHeadState};

/// The longest name that is made, in characters.
const LENGTH: usize = 50;

/// `wish` as far as it can be a name, or it with a number, so that no living head of the workspace has it.
pub(crate) fn free_name(heads: &[WorkspaceHeadDescriptor], wish: &str) -> String {
    let plain = |c: char| if c.is_control() { '-' } else { c };
    let base: String = wish.chars().map(plain).take(LENGTH).collect();
    let base = if base.trim().is_empty() {
        "head"
    } else {
        base.trim()
    };
    let taken = |name: &str| {
        heads
            .iter()
            .any(|head| head.state != WorkspaceHeadState::Destroyed && head.name.as_str() == name)
    };
    if !taken(base) {
        return base.to_owned();
    }
    // Of more names than there are heads, one is free.
    let numbered = (2..=heads.len() + 2)
        .map(|number| format!("{base} {number}"))
        .find(|name| !taken(name));
    numbered.unwrap_or_else(|| base.to_owned())
}
