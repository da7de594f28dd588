use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The beginning of what a command writes.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
}

/// Reads to the end but keeps only the first `limit` bytes, so that the command neither blocks nor fills our memory.
pub(super) async fn read(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
    into: &std::sync::Mutex<Output>,
) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let mut output = into
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let room = limit - output.bytes.len();
        output.bytes.extend(buffer.iter().take(count.min(room)));
        output.truncated |= count > room;
    }
}
