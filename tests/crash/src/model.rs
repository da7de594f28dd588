use async_trait::async_trait;
use everruns::Simulated;
use everruns::failpoint;
use everruns::model::{ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream};
use futures::StreamExt as _;

/// The scripted model, with steps at which the process can be killed while it speaks.
#[derive(Clone, Debug)]
pub(crate) struct Speaking(pub(crate) Simulated);

#[async_trait]
impl ModelProvider for Speaking {
    fn name(&self) -> &'static str {
        "simulated"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let stream = self.0.stream(request).await?;
        step("model.stream.before-first-piece")?;
        let pieces = stream.enumerate().map(|(place, piece)| {
            if place > 0 {
                step("model.stream.between-pieces")?;
            }
            piece
        });
        Ok(pieces.boxed())
    }
}

fn step(name: &'static str) -> Result<(), ModelError> {
    failpoint::hit(name)
        .map_err(|error| ModelError::new(ModelErrorKind::Unavailable, error.to_string()))
}
