use everruns_core::path::{Mount, WorkspacePath};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::PolicyError;

/// Whether a glob names what is allowed or what is denied; a denial always takes all that is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Allow,
    Deny,
}

/// Globs over paths, compiled once.
///
/// The head and the roots have a set each, so that a glob for one never costs or matches in the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Globs {
    head: Side,
    roots: Side,
}

#[derive(Clone, Debug, Default)]
struct Side {
    set: GlobSet,
    /// The glob as given, for each one in the set.
    given: Vec<String>,
    /// Set when one glob matches everything: the common case needs no matching.
    all: Option<usize>,
    scopes: Vec<Scope>,
}

/// Where matches of one glob can lie.
#[derive(Clone, Debug)]
struct Scope {
    /// The folder above all matches.
    prefix: String,
    /// How many components a folder above a match can have; `None` for any number.
    deepest: Option<usize>,
}

impl Globs {
    pub(super) fn compile(given: &[String], sense: Sense) -> Result<Self, PolicyError> {
        let (mut head, mut roots) = (SideBuilder::default(), SideBuilder::default());
        for glob in given {
            let (pattern, reach) = place(glob)?;
            if reach != Reach::Roots {
                head.add(glob, pattern, sense)?;
            }
            match reach {
                Reach::Roots => roots.add(glob, pattern, sense)?,
                Reach::Everywhere if pattern == "**" => roots.add(glob, pattern, sense)?,
                Reach::Everywhere => roots.add(glob, &format!("/roots/*/{pattern}"), sense)?,
                Reach::Head => {}
            }
        }
        Ok(Self {
            head: head.build(given)?,
            roots: roots.build(given)?,
        })
    }

    /// The glob, as given, that matches `path`.
    pub(super) fn matching(&self, path: &WorkspacePath) -> Option<&str> {
        with_text(path, |text| self.side(path).matching(text))
    }

    /// Whether a match can lie below the folder `path`.
    pub(super) fn reach_below(&self, path: &WorkspacePath) -> bool {
        let side = self.side(path);
        with_text(path, |text| {
            side.scopes.iter().any(|scope| scope.reaches(text))
        })
    }

    fn side(&self, path: &WorkspacePath) -> &Side {
        match path.mount() {
            Mount::Head => &self.head,
            Mount::Root(_) => &self.roots,
        }
    }
}

/// Calls `f` with the text that globs are matched with; for the head it needs no allocation.
fn with_text<T>(path: &WorkspacePath, f: impl FnOnce(&str) -> T) -> T {
    match path.mount() {
        Mount::Head => f(path.relative()),
        Mount::Root(_) => f(&path.to_string()),
    }
}

impl Side {
    fn matching(&self, text: &str) -> Option<&str> {
        if self.given.is_empty() {
            return None;
        }
        let index = match self.all {
            Some(index) => Some(index),
            None if self.set.is_match(text) => self.set.matches(text).first().copied(),
            None => None,
        };
        index
            .and_then(|index| self.given.get(index))
            .map(String::as_str)
    }
}

impl Scope {
    fn of(pattern: &str) -> Self {
        let is_wild = |component: &&str| component.contains(['*', '?', '[', '{', '\\']);
        let depth = pattern
            .split('/')
            .filter(|component| !component.is_empty())
            .count();
        let prefix: Vec<&str> = pattern
            .split('/')
            .take_while(|part| !is_wild(part))
            .collect();
        // A brace may hold slashes, so its depth says nothing.
        let unbounded = pattern.contains("**") || pattern.contains('{');
        Self {
            prefix: prefix.join("/"),
            deepest: (!unbounded).then(|| depth.saturating_sub(1)),
        }
    }

    fn reaches(&self, folder: &str) -> bool {
        let depth = folder.split('/').filter(|part| !part.is_empty()).count();
        let within = self.deepest.is_none_or(|deepest| depth <= deepest);
        within && (is_below(folder, &self.prefix) || is_below(&self.prefix, folder))
    }
}

/// Whether `path` is `folder` or below it.
fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Debug)]
struct SideBuilder {
    globs: GlobSetBuilder,
    /// For each compiled glob, the text it was made of.
    given: Vec<String>,
    all: Option<usize>,
    scopes: Vec<Scope>,
}

impl Default for SideBuilder {
    fn default() -> Self {
        Self {
            globs: GlobSetBuilder::new(),
            given: Vec::new(),
            all: None,
            scopes: Vec::new(),
        }
    }
}

impl SideBuilder {
    fn add(&mut self, given: &str, pattern: &str, sense: Sense) -> Result<(), PolicyError> {
        let pattern = pattern.trim_end_matches('/');
        if sense == Sense::Deny {
            expect_name(given, pattern)?;
        }
        if pattern == "**" {
            self.all.get_or_insert(self.given.len());
        }
        self.push(given, pattern)?;
        let literal = !pattern.contains(['*', '?', '[', '{', '\\']);
        if sense == Sense::Deny || literal {
            self.push(given, &format!("{pattern}/**"))?;
        }
        if sense == Sense::Allow {
            // Who may see all of a folder may see the folder.
            if let Some(folder) = pattern
                .strip_suffix("/**")
                .filter(|folder| !folder.is_empty())
            {
                self.push(given, folder)?;
            }
            let below = if literal {
                format!("{pattern}/**")
            } else {
                pattern.to_owned()
            };
            self.scopes.push(Scope::of(&below));
        }
        Ok(())
    }

    fn push(&mut self, given: &str, pattern: &str) -> Result<(), PolicyError> {
        self.globs.add(compile(given, pattern)?);
        self.given.push(given.to_owned());
        Ok(())
    }

    fn build(self, all_given: &[String]) -> Result<Side, PolicyError> {
        let set = self
            .globs
            .build()
            .map_err(|source| PolicyError::InvalidGlob {
                glob: all_given.join("`, `"),
                source,
            })?;
        Ok(Side {
            set,
            given: self.given,
            all: self.all,
            scopes: self.scopes,
        })
    }
}

fn compile(given: &str, pattern: &str) -> Result<Glob, PolicyError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|source| PolicyError::InvalidGlob {
            glob: given.to_owned(),
            source,
        })
}

/// Fails for a glob that matches the folder of the whole tree without matching whatever is in it, such as
/// `{}`. As a denial it would hide the tree from above what it goes on to show.
fn expect_name(given: &str, pattern: &str) -> Result<(), PolicyError> {
    let glob = compile(given, pattern)?.compile_matcher();
    if glob.is_match("") && !glob.is_match("any name") {
        return Err(PolicyError::OutsideNamespace {
            glob: given.to_owned(),
            reason: "it matches an empty name; `**` denies everything",
        });
    }
    Ok(())
}

/// Which trees a glob is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Head,
    Roots,
    Everywhere,
}

/// Takes a glob to the text that its tree is matched with.
fn place(glob: &str) -> Result<(&str, Reach), PolicyError> {
    let outside = |reason| {
        Err(PolicyError::OutsideNamespace {
            glob: glob.to_owned(),
            reason,
        })
    };
    if glob.split('/').any(|component| component == "..") {
        return outside("no path has a `..` component");
    }
    if matches!(glob, "/workspace" | "/workspace/" | "." | "./") {
        return Ok(("**", Reach::Head));
    }
    if let Some(below) = glob.strip_prefix("/workspace/") {
        return Ok((below, Reach::Head));
    }
    if glob.starts_with("/roots/") {
        return Ok((glob, Reach::Roots));
    }
    if glob.starts_with('/') {
        return outside("absolute paths start with /workspace or /roots/<name>");
    }
    let relative = glob.strip_prefix("./").unwrap_or(glob);
    if relative.trim_end_matches('/').is_empty() {
        return outside("it is empty");
    }
    let reach = if relative.starts_with("**") {
        Reach::Everywhere
    } else {
        Reach::Head
    };
    Ok((relative, reach))
}
