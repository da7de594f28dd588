use std::collections::BTreeSet;

use anyhow::ensure;
use everruns::session::{Sequence, SessionQuery, SessionRecord, SessionStore};
use everruns::{SessionId, WorkspaceHeadAccess};

use super::Ledger;

impl Ledger {
    /// Every session is there but those that are `gone`, bindings stay, isolated heads have one session, and nothing
    /// executes unbound. Gives the session that is new.
    pub(super) async fn check_records(
        &mut self,
        store: &dyn SessionStore,
        gone: &BTreeSet<SessionId>,
    ) -> anyhow::Result<Option<SessionId>> {
        let mut isolated = BTreeSet::new();
        let mut found = BTreeSet::new();
        let mut new = None;
        let mut query = SessionQuery {
            limit: 1_000,
            ..SessionQuery::default()
        };
        loop {
            let page = store.sessions(query.clone()).await?;
            for record in &page.sessions {
                self.check_record(record, &mut isolated)?;
                let known = self.present.contains(&record.id);
                if !known && record.binding.is_some() && new.is_none() {
                    new = Some(record.id.clone());
                }
                let once = found.insert(record.id.clone());
                ensure!(once, "{} is listed twice", record.id);
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        for id in &self.present {
            let there = found.contains(id) || gone.contains(id);
            ensure!(there, "{id} was recorded and is lost");
        }
        self.present = found;
        Ok(new)
    }

    fn check_record(
        &mut self,
        record: &SessionRecord,
        isolated: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let id = &record.id;
        let Some(binding) = &record.binding else {
            let last = record.last_sequence;
            ensure!(
                last == Sequence::START,
                "{id} has executed without a binding"
            );
            ensure!(
                !self.bindings.contains_key(id),
                "the binding of {id} is gone"
            );
            return Ok(());
        };
        let text = serde_json::to_string(binding)?;
        let known = self
            .bindings
            .entry(id.clone())
            .or_insert_with(|| text.clone());
        ensure!(
            *known == text,
            "the binding of {id} was {known} and is {text}"
        );
        if binding.access == WorkspaceHeadAccess::Isolated {
            let head = format!("{}/{}", binding.workspace_id, binding.head_id);
            ensure!(isolated.insert(head), "two sessions have the head of {id}");
        }
        Ok(())
    }
}
