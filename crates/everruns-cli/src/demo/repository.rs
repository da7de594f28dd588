//! The repository that the demonstration works on.

use std::path::Path;

use super::git;
use crate::failure::Failure;

const README: &str = "# Greeter\n\nSays hello.\n";
const GREET: &str = "def greet(name):\n    return \"Hello \" + name\n\n\nif __name__ == \"__main__\":\n    print(greet(\"world\"))\n";
const IGNORE: &str = "*.log\n";

/// Makes a repository with one commit on `main`, and a change that its user has not committed.
pub(super) async fn make(project: &Path) -> Result<(), Failure> {
    write(&project.join("README.md"), README)?;
    write(&project.join("src/greet.py"), GREET)?;
    write(&project.join(".gitignore"), IGNORE)?;
    git::run(project, &["init", "--quiet", "--initial-branch=main"]).await?;
    git::run(project, &["add", "."]).await?;
    git::run(project, &["commit", "--quiet", "--message=Say hello"]).await?;
    write(
        &project.join("README.md"),
        &format!("{README}\nA note that you have not committed yet.\n"),
    )
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(path, text))
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))
}
