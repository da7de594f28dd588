//! The step that runs all the checks of this folder.

use super::{leftovers, links, size, words};
use crate::context::Context;
use crate::step::Outcome;
use crate::{dependencies, files};

/// Looks at every file that Git tracks or would track.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let files = files::tracked(context)?;
    let sizes = size::Sizes::measure(&files);
    let mut problems = sizes.problems();
    problems.extend(files.iter().flat_map(words::problems));
    problems.extend(
        files
            .iter()
            .filter(|file| file.is_rust())
            .flat_map(leftovers::problems),
    );
    problems.extend(files.iter().flat_map(|file| links::problems(context, file)));
    problems.extend(dependencies::problems(context)?);
    println!("  {sizes}");
    Ok(Outcome::of(
        &problems,
        format!("{} files; {sizes}", files.len()),
    ))
}
