use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::model::ToolSpec;
use everruns_engine::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "A tool of the tests.".to_owned(),
        input_schema: json!({"type": "object"}),
    }
}

/// Gives its arguments back; with a barrier, only once all parties are there.
#[derive(Clone, Default)]
pub(crate) struct Echo {
    pub(crate) together: Option<Arc<Barrier>>,
}

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        spec("echo")
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, _: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        if let Some(barrier) = &self.together {
            barrier.wait().await;
        }
        Ok(arguments.to_string().into())
    }
}

/// Tells that it began, and never ends.
#[derive(Clone, Default)]
pub(crate) struct Blocking {
    pub(crate) begun: Arc<Notify>,
}

#[async_trait]
impl Tool for Blocking {
    fn spec(&self) -> ToolSpec {
        spec("block")
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<ToolOutput, ToolError> {
        self.begun.notify_one();
        std::future::pending().await
    }
}

/// Panics.
pub(crate) struct Panicking;

#[async_trait]
impl Tool for Panicking {
    fn spec(&self) -> ToolSpec {
        spec("panic")
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<ToolOutput, ToolError> {
        panic!("a tool of the tests crashes on purpose")
    }
}
