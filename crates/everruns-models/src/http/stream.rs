use std::collections::VecDeque;

use everruns_core::model::{ModelError, ModelErrorKind, ModelEvent, ModelStream};
use futures::stream;

use super::ApiKey;
use super::client::body_failed;
use super::failure::{Failure, protocol};
use super::sse::SseParser;

/// What one event of a provider means.
pub(crate) enum Step {
    /// These pieces of the answer, none of them its end.
    Pieces(Vec<ModelEvent>),
    /// The end, with the last pieces before it.
    End(Vec<ModelEvent>),
    /// The provider failed within the stream.
    Failed(Failure),
}

/// Understands the events of one provider's stream.
pub(crate) trait Decoder: Send + 'static {
    /// Reads the data of one event.
    fn event(&mut self, data: &str) -> Result<Step, ModelError>;

    /// The last pieces when the stream ends and the answer is whole all the same.
    fn finish(&mut self) -> Result<Option<Vec<ModelEvent>>, ModelError> {
        Ok(None)
    }
}

struct Reading<D> {
    response: reqwest::Response,
    parser: SseParser,
    decoder: D,
    ready: VecDeque<ModelEvent>,
    /// A failure that comes behind what is ready.
    failed: Option<ModelError>,
    done: bool,
    provider: &'static str,
    key: ApiKey,
}

/// Reads a response as it comes. The connection is closed when the stream is dropped, or at the end of the answer.
pub(crate) fn read<D: Decoder>(
    response: reqwest::Response,
    decoder: D,
    provider: &'static str,
    key: ApiKey,
) -> ModelStream {
    let reading = Reading {
        response,
        parser: SseParser::default(),
        decoder,
        ready: VecDeque::new(),
        failed: None,
        done: false,
        provider,
        key,
    };
    Box::pin(stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Ok(event) => event.map(|event| (Ok(event), Some(reading))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

impl<D: Decoder> Reading<D> {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.done {
                return Ok(None);
            }
            let chunk = self.response.chunk().await;
            let taken = match chunk {
                Ok(Some(bytes)) => self.take(&bytes),
                Ok(None) => self.ended(),
                Err(error) => Err(body_failed(self.provider, error)),
            };
            self.failed = taken.err();
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        for data in self.parser.push(bytes)? {
            if self.done {
                break;
            }
            match self.decoder.event(&data)? {
                Step::Pieces(pieces) => self.ready.extend(pieces),
                Step::End(pieces) => {
                    self.ready.extend(pieces);
                    self.done = true;
                }
                Step::Failed(failure) => return Err(failure.into_error(self.provider, &self.key)),
            }
        }
        Ok(())
    }

    fn ended(&mut self) -> Result<(), ModelError> {
        self.done = true;
        let Some(pieces) = self.decoder.finish()? else {
            let message = format!("{} ended its answer before it was complete", self.provider);
            return Err(ModelError::new(ModelErrorKind::Truncated, message));
        };
        self.ready.extend(pieces);
        Ok(())
    }
}

/// Refuses an answer that is no event stream, such as a page of a proxy.
pub(crate) fn check_content_type(response: &reqwest::Response) -> Result<(), ModelError> {
    let Some(kind) = response.headers().get(reqwest::header::CONTENT_TYPE) else {
        return Ok(());
    };
    let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
    if kind.starts_with("text/event-stream") {
        return Ok(());
    }
    let kind: String = kind.chars().take(80).collect();
    Err(protocol(&format!(
        "it is no event stream but `{}`",
        kind.escape_debug()
    )))
}
