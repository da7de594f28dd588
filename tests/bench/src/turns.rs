//! Turns with a scripted model: what the engine itself costs.

use std::path::Path;
use std::time::{Duration, Instant};

use everruns::{Agent, Engine, Simulated, WorkspacePolicy};
use serde_json::json;

use crate::measure::Samples;
use crate::table::Table;

/// How many turns one sample runs.
const BATCH: u32 = 20;

pub async fn measure(
    table: &mut Table,
    scratch: &Path,
    place: &Path,
    rounds: usize,
) -> anyhow::Result<()> {
    let memory = run(&Engine::new(), rounds).await?;
    table.single(
        "turn with one tool call, records in memory".to_owned(),
        &memory,
    );
    let durable = run(&Engine::local(scratch.join("sessions")).await?, rounds).await?;
    table.single(
        format!(
            "turn with one tool call, records in SQLite in {}",
            place.display()
        ),
        &durable,
    );
    Ok(())
}

/// Turns of one session after the other, so that the last samples show whether a long session is slower.
async fn run(engine: &Engine, rounds: usize) -> anyhow::Result<Samples> {
    let script = Simulated::new()
        .call("list_directory", json!({"path": "."}))
        .say("Done.")
        .repeat();
    let agent = Agent::builder()
        .instructions("Work.")
        .provider(script)
        .model("scripted")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()?;
    let session = engine.create(agent).start().await?;
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let begun = Instant::now();
        for _ in 0..BATCH {
            let turn = session.send_and_wait("Go on.").await?;
            anyhow::ensure!(turn.success, "the turn failed");
        }
        samples.push(begun.elapsed() / BATCH);
    }
    session.close().await;
    anyhow::ensure!(samples.median() > Duration::ZERO, "nothing was measured");
    Ok(samples)
}
