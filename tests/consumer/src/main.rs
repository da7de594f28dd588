//! An application that uses everruns through its facade alone.

mod concise;
#[cfg(all(feature = "local", feature = "tools"))]
mod durable;
#[cfg(all(feature = "git", feature = "tools"))]
mod git;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome {
    concise::run().await?;
    #[cfg(all(feature = "git", feature = "tools"))]
    git::run().await?;
    #[cfg(all(feature = "local", feature = "tools"))]
    durable::run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_concise_path_runs() {
        crate::concise::run().await.unwrap();
    }

    #[cfg(all(feature = "git", feature = "tools"))]
    #[tokio::test]
    async fn the_git_path_runs() {
        crate::git::run().await.unwrap();
    }

    #[cfg(all(feature = "local", feature = "tools"))]
    #[tokio::test]
    async fn a_session_is_resumed_on_its_head() {
        crate::durable::run().await.unwrap();
    }
}
