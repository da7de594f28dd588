use everruns_core::file_system::{
    FileKind, FileStat, FileSystemError, LastLink, LinkTarget, Permissions,
};
use everruns_core::path::WorkspacePath;

use super::end::End;
use crate::swap_folder::swap_folder;

/// What a move is about to copy, folders before what is in them.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) folders: Vec<(WorkspacePath, WorkspacePath, Option<Permissions>)>,
    pub(super) entries: Vec<Planned>,
}

/// A file or link, and where it goes.
pub(super) struct Planned {
    pub(super) from: WorkspacePath,
    pub(super) to: WorkspacePath,
    pub(super) what: What,
}

pub(super) enum What {
    File {
        executable: bool,
        permissions: Option<Permissions>,
    },
    Link(LinkTarget),
}

impl Plan {
    /// Lists all that would move from `source`, and refuses what `target` could not keep as it is.
    pub(super) async fn of(
        source: &End<'_>,
        stat: &FileStat,
        target: &End<'_>,
    ) -> Result<Self, FileSystemError> {
        let mut plan = Self::default();
        let keeper = Keeper::of(target).await?;
        let mut open = vec![(source.path.clone(), target.path.clone(), stat.clone())];
        while let Some((from, to, stat)) = open.pop() {
            let what = match stat.kind {
                FileKind::Directory => {
                    // The last one in is looked at first, so this goes by name.
                    open.extend(source.entries(&from, &to).await?.into_iter().rev());
                    plan.folders.push((from, to, stat.permissions));
                    continue;
                }
                FileKind::File => What::File {
                    executable: stat.executable,
                    permissions: stat.permissions,
                },
                FileKind::Symlink => What::Link(source.read_link(&from).await?),
                _ => {
                    return Err(source.refused(
                        &from,
                        "only files, links and folders can move to another mount",
                    ));
                }
            };
            keeper.check(&to, &what)?;
            plan.entries.push(Planned { from, to, what });
        }
        Ok(plan)
    }
}

/// What is asked of the tree that something moves to.
struct Keeper<'a> {
    target: &'a End<'a>,
    /// Where the destination really lies: links on the way to it are followed.
    resolved: WorkspacePath,
}

impl<'a> Keeper<'a> {
    async fn of(target: &'a End<'a>) -> Result<Self, FileSystemError> {
        let files = &target.tree.files;
        let resolved = match files.resolve(&target.path, LastLink::Keep).await {
            // A link on the way leads nowhere, which the copy itself would tell.
            Err(FileSystemError::NotFound { .. }) => target.path.clone(),
            other => target.tree.errors(other)?,
        };
        Ok(Self { target, resolved })
    }

    fn check(&self, to: &WorkspacePath, what: &What) -> Result<(), FileSystemError> {
        let supports = self.target.tree.files.supports(to);
        let outward = |path: &WorkspacePath| self.target.tree.outward(path);
        let missing = match what {
            What::File {
                executable: true, ..
            } if !supports.executables => "executable files",
            What::Link(_) if !supports.links => "symbolic links",
            What::File { .. } => return Ok(()),
            What::Link(text) => {
                let lies = swap_folder(to, &self.target.path, &self.resolved);
                let led = text.leads_from(lies.as_ref().unwrap_or(to));
                return led
                    .map(drop)
                    .map_err(|error| error.map_paths(&|_| outward(to)));
            }
        };
        Err(FileSystemError::Unsupported {
            path: outward(to),
            what: missing,
        })
    }
}
