use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// When to break a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never hears of the COMMIT.
    BeforeCommit,
    /// The server commits, and its answer is lost.
    AfterCommit,
    /// Nothing passes in either direction from the COMMIT on, and nobody is told.
    Silence,
}

/// Passes connections on to a server, and breaks one at its COMMIT when told to.
pub(crate) struct Proxy {
    port: u16,
    server: u16,
    next: Arc<Mutex<Option<Cut>>>,
}

impl Proxy {
    pub(crate) async fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let next = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&next);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let next = Arc::clone(&shared);
                tokio::spawn(async move {
                    let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                    pass(client, server, next).await;
                });
            }
        });
        Self { port, server, next }
    }

    /// The URL that leads through the proxy.
    pub(crate) fn through(&self, url: &str) -> String {
        url.replace(&self.server.to_string(), &self.port.to_string())
    }

    pub(crate) fn cut_next(&self, cut: Cut) {
        *self.next.lock().unwrap() = Some(cut);
    }

    /// Whether what `cut_next` asked for has happened.
    pub(crate) fn has_cut(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }
}

async fn pass(client: TcpStream, server: TcpStream, next: Arc<Mutex<Option<Cut>>>) {
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let mute = Arc::new(AtomicBool::new(false));
    let back = tokio::spawn(answer(from_server, to_client, Arc::clone(&mute)));
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
        let sent = &buffer[..length];
        // The client waits for the answer to what it sent before, so the COMMIT comes in one piece and alone. The NUL
        // tells it from `READ COMMITTED`.
        let commits = sent.windows(7).any(|text| text == b"COMMIT\0");
        let cut = if commits {
            next.lock().unwrap().take()
        } else {
            None
        };
        if cut == Some(Cut::BeforeCommit) {
            break;
        }
        if cut == Some(Cut::Silence) {
            mute.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        if cut == Some(Cut::AfterCommit) {
            mute.store(true, Ordering::SeqCst);
            to_server.write_all(sent).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            break;
        }
        if to_server.write_all(sent).await.is_err() {
            break;
        }
    }
    back.abort();
}

/// Passes answers on, or throws them away while `mute`.
async fn answer(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mute: Arc<AtomicBool>) {
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if !mute.load(Ordering::SeqCst) && to.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
}
