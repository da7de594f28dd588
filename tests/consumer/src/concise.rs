//! The shortest way: an agent, an engine, a message. The default head is in memory.

use everruns::{Agent, Engine, Simulated};

use crate::Outcome;

pub async fn run() -> Outcome {
    let agent = Agent::builder()
        .instructions("Answer briefly.")
        .provider(Simulated::new().say("Hello."))
        .model("simulated")
        .build()?;
    let session = Engine::new().create(agent);
    let turn = session.send_and_wait("Say hello.").await?;
    assert!(turn.success);
    assert_eq!(turn.response, "Hello.");
    assert!(session.workspace_head().is_some());
    println!("concise: {}", turn.response);
    Ok(())
}
