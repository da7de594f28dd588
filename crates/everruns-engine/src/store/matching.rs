use everruns_core::session::{SessionQuery, SessionState};

use super::record::Kept;

/// Whether a session is one of those that are asked for.
pub(super) fn fits(kept: &Kept, query: &SessionQuery) -> bool {
    let record = &kept.record;
    let binding = record.binding.as_ref();
    let in_workspace = query
        .workspace
        .as_ref()
        .is_none_or(|wanted| binding.is_some_and(|binding| binding.workspace_id == *wanted));
    let on_head = query
        .head
        .as_ref()
        .is_none_or(|wanted| binding.is_some_and(|binding| binding.head_id == *wanted));
    let begins = query
        .id_prefix
        .as_ref()
        .is_none_or(|prefix| record.id.as_str().starts_with(prefix.as_str()));
    let titled = query.title.as_ref().is_none_or(|part| {
        let part = part.to_ascii_lowercase();
        let title = record
            .title
            .as_ref()
            .map(|title| title.to_ascii_lowercase());
        title.is_some_and(|title| title.contains(&part))
    });
    let agent = query.agent.as_ref();
    let of_agent = agent.is_none_or(|name| record.agent.name == *name);
    let since = query.updated_since;
    let recent = since.is_none_or(|since| record.updated_at >= since);
    let in_state = query.state.is_none_or(|state| is_in(kept, state));
    in_workspace && on_head && begins && titled && of_agent && recent && in_state
}

fn is_in(kept: &Kept, state: SessionState) -> bool {
    let lease = kept.lease.as_ref();
    match state {
        SessionState::Unbound => kept.record.binding.is_none(),
        SessionState::Idle { at } => {
            kept.record.binding.is_some() && lease.is_none_or(|lease| lease.expires_at <= at)
        }
        SessionState::Executing { at } => lease.is_some_and(|lease| lease.expires_at > at),
        _ => false,
    }
}
