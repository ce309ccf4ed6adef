//! A media relay, and test media.
use super::relay::Relay;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// A relay with its own certificates, which clients pin.
pub struct Door {
    pub relay: Relay,
    /// The UDP address.
    pub address: String,
    /// The TCP address, for WebSocket.
    pub websocket: String,
    /// The SHA-256 of its certificate in base64.
    pub hash: String,
}

/// The files of one test, deleted on drop.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Door {
    /// Starts a relay whose certificates are stored in `scratch`.
    pub async fn start(listen: &str, scratch: &Scratch, flags: &str) -> Self {
        let certificates = scratch.path("certificates");
        let flags = format!("--media-listen={listen} --media-certificate-dir={certificates} {flags}");
        let (mut address, mut websocket, mut hash) = (String::new(), String::new(), String::new());
        let relay = Relay::start_telling(super::relay::ANYWHERE, flags.trim_end(), |log| {
            let text = |field: &str| log[field].as_str().unwrap_or_default().to_owned();
            if log["message"] == "serving media" {
                (address, websocket) = (text("address"), text("websocket"));
            } else if log["hash"].is_string() {
                hash = text("hash");
            }
        });
        let relay = relay.await;
        Self { relay, address, websocket, hash }
    }

    /// The arguments with which the command reaches the relay.
    pub fn flags(&self, broadcast: &str) -> [String; 5] {
        self.flags_with(broadcast, "")
    }

    /// The same with a token.
    pub fn flags_with(&self, broadcast: &str, query: &str) -> [String; 5] {
        let url = format!("https://{}/{query}", self.address);
        [url, "--broadcast".into(), broadcast.into(), "--hash".into(), self.hash.clone()]
    }

    pub async fn kill(self) {
        self.relay.kill().await;
    }
}

/// Joins arguments into one list.
pub fn arguments<'a>(command: &'a str, place: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    [command].into_iter().chain(place.iter().map(String::as_str)).chain(more.iter().copied()).collect()
}

/// Runs ffmpeg. Returns its standard output.
pub async fn ffmpeg(arguments: &str) -> Vec<u8> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-y"]).args(arguments.split_whitespace()).stdin(Stdio::null());
    let output = command.output().await.expect("ffmpeg is not installed: infra/local/tools.sh");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Creates a video of this many seconds: H.264 with B-frames and a key frame each second, and AAC.
pub async fn video(path: &str, seconds: u32) {
    let picture = format!("-f lavfi -i testsrc=size=160x90:rate=30:duration={seconds}");
    let sound = format!("-f lavfi -i sine=frequency=440:duration={seconds}");
    let coded = "-c:v libx264 -preset ultrafast -bf 2 -g 30 -pix_fmt yuv420p -c:a aac -b:a 64k";
    ffmpeg(&format!("{picture} {sound} {coded} {path}")).await;
}

/// The SHA-256 of all packets of video and of audio, unchanged.
pub async fn hashes(path: &str) -> String {
    String::from_utf8(ffmpeg(&format!("-i {path} -map 0:v -map 0:a -c copy -f streamhash -")).await).unwrap()
}
