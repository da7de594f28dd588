//! In whose name commits are made: who was named, or who is configured, and nobody else.

use everruns_core::workspace::CommitIdentity;
use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use crate::error::{GitError, GitStep as _, Result};
use crate::repository::signature_time;

/// An author and a committer, both known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    author: Person,
    committer: Person,
}

/// A name and an address that Git takes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Person {
    name: String,
    email: String,
}

impl Identity {
    /// The identity for commits in `repository`: the author `named`, or who is configured.
    ///
    /// The committer is who is configured; where nobody is, the named author.
    pub(crate) fn of(repository: &gix::Repository, named: Option<&CommitIdentity>) -> Result<Self> {
        let configured = |role| Person::configured(repository, role);
        let Some(named) = named else {
            return Ok(Self {
                author: configured("author")?,
                committer: configured("committer")?,
            });
        };
        let author = Person::new(Some(&named.name), Some(&named.email), "the author's")?;
        Ok(Self {
            committer: configured("committer").unwrap_or_else(|_| author.clone()),
            author,
        })
    }

    /// Writes a commit at `millis` since the epoch.
    pub(crate) fn write(
        &self,
        repository: &gix::Repository,
        message: &str,
        tree: ObjectId,
        parents: &[ObjectId],
        millis: i64,
    ) -> Result<ObjectId> {
        let time = signature_time(millis);
        let commit = repository.new_commit_as(
            self.committer.signature(&time),
            self.author.signature(&time),
            message,
            tree,
            parents.iter().copied(),
        );
        Ok(commit.git("write a commit")?.id)
    }
}

impl Person {
    /// Who is configured as `role`, or as the user.
    fn configured(repository: &gix::Repository, role: &str) -> Result<Self> {
        let config = repository.config_snapshot();
        let value = |key: &str| {
            let own = config.string(format!("{role}.{key}").as_str());
            let found = own.or_else(|| config.string(format!("user.{key}").as_str()));
            found.map(|value| value.to_str_lossy().into_owned())
        };
        Self::new(value("name").as_deref(), value("email").as_deref(), "user.")
    }

    /// The person, if both parts are something after what Git would drop of them has been dropped.
    fn new(name: Option<&str>, email: Option<&str>, whose: &str) -> Result<Self> {
        let name = without_crud(name.unwrap_or_default());
        let email = without_crud(email.unwrap_or_default());
        let missing: Vec<String> = [("name", &name), ("email", &email)]
            .into_iter()
            .filter(|(_, value)| value.is_empty())
            .map(|(key, _)| {
                if whose.ends_with('.') {
                    format!("{whose}{key}")
                } else {
                    format!("{whose} {key}")
                }
            })
            .collect();
        if missing.is_empty() {
            return Ok(Self { name, email });
        }
        Err(GitError::IdentityMissing {
            missing: missing.join(" and "),
        })
    }

    fn signature<'a>(&'a self, time: &'a str) -> gix::actor::SignatureRef<'a> {
        gix::actor::SignatureRef {
            name: self.name.as_str().into(),
            email: self.email.as_str().into(),
            time,
        }
    }
}

/// `text` as Git would write it into a commit: without characters that end a part, and without punctuation around.
fn without_crud(text: &str) -> String {
    let is_crud =
        |c: char| c <= ' ' || matches!(c, '.' | ',' | ':' | ';' | '<' | '>' | '"' | '\\' | '\'');
    text.trim_matches(is_crud)
        .chars()
        .filter(|c| !matches!(c, '\0' | '\n' | '<' | '>'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cleaned_as_git_does_it_and_never_made_up() {
        let person = Person::new(Some("A <b> \"C\""), Some("<a@b>"), "user.").unwrap();
        assert_eq!(
            (person.name.as_str(), person.email.as_str()),
            ("A b \"C", "a@b")
        );
        let failure = Person::new(Some("A"), Some(" . "), "user.").unwrap_err();
        assert!(failure.to_string().contains("user.email"), "{failure}");
        let failure = Person::new(None, None, "the author's").unwrap_err();
        assert!(
            failure
                .to_string()
                .contains("the author's name and the author's email"),
            "{failure}"
        );
    }
}
