//! Follows the files of key sets, which Kubernetes replaces when an operator changes the Secret. SPEC rule KEY-8.
use crate::config::KeyFile;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The interval at which files are read. Kubernetes itself takes about a minute to bring a changed Secret to a node.
pub const READ_INTERVAL: Duration = Duration::from_secs(10);

/// Reads the files at this interval until it is aborted. A set that is not valid, or a file that cannot be read, is logged once and changes nothing.
pub async fn follow(files: Vec<KeyFile>, every: Duration) {
    let hashes = RandomState::new();
    let mut followed: Vec<Followed> = files.into_iter().map(|file| Followed { file, known: None }).collect();
    loop {
        for one in &mut followed {
            one.look(&hashes);
        }
        tokio::time::sleep(every).await;
    }
}

struct Followed {
    file: KeyFile,
    /// A hash of the text that was read last, as the text may contain private parts, or why there was none.
    known: Option<Result<u64, String>>,
}

impl Followed {
    fn look(&mut self, hashes: &RandomState) {
        let KeyFile { path, keys } = &self.file;
        let text = std::fs::read_to_string(path).map_err(|error| format!("it cannot be read: {}", error.kind()));
        let read = text.as_ref().map(|text| hashes.hash_one(text)).map_err(Clone::clone);
        if self.known.as_ref() == Some(&read) {
            return;
        }
        // The settings were read from the file a moment ago; if it was replaced since, that is not logged.
        let is_first = self.known.replace(read).is_none();
        match text.and_then(|text| keys.replace_set(&text)) {
            Ok(()) if is_first => {}
            Ok(()) => tracing::info!(path, keys = ?keys.ids(), "the key set was replaced"),
            Err(reason) => tracing::warn!(path, reason, "the key set was not replaced"),
        }
    }
}
