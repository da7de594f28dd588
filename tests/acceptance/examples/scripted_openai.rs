//! A scripted `OpenAI` server to try the command-line tool by hand.
//!
//! ```text
//! cargo run -p everruns-acceptance --example scripted_openai -- 8089 script.json
//! OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=any everruns run "…"
//! ```
//!
//! The script is a JSON list of steps, one for each request:
//! `{"text": "…", "calls": [{"name": "…", "arguments": {…}}], "delay_ms": 100, "refusal": 500}`, all of it optional.

use std::error::Error;
use std::time::Duration;

use everruns_acceptance::openai_server::{ScriptedOpenAi, ScriptedStep};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(script), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: scripted_openai PORT SCRIPT.json".into());
    };
    let port: u16 = port.parse()?;
    let script: serde_json::Value = serde_json::from_slice(&std::fs::read(script)?)?;
    let steps = script
        .as_array()
        .ok_or("the script is a JSON list of steps")?;
    let steps: Vec<_> = steps
        .iter()
        .map(ScriptedStep::from_json)
        .collect::<Result<_, _>>()?;
    let (server, base_url) = ScriptedOpenAi::start_at(&format!("127.0.0.1:{port}"), steps).await?;
    say(&format!(
        "listening on {base_url}, {} steps",
        server.remaining()
    ));
    let mut shown = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        for request in server.requests().iter().skip(shown) {
            shown += 1;
            say(&format!("{} {}", request.path, request.body));
        }
    }
}

#[expect(clippy::print_stdout, reason = "what this program is for")]
fn say(line: &str) {
    println!("{line}");
}
