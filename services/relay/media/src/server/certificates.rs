//! A relay's own certificates (MED-20 to MED-22): one in use, and the next, whose hash is announced for a whole rotation before.
//!
//! Each is one file with key and chain. The one in use lies alone in a directory that the listener watches, as any write there makes
//! it read again; the next lies in another, and becomes the one in use by a rename.
use anyhow::{Context, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P256_SHA256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Clients whose clock is behind take a new certificate all the same.
const BACKDATED: Duration = Duration::from_secs(3600);

/// What Chromium takes at most (W3C WebTransport, "custom certificate requirements").
const MAX_LIFETIME: Duration = Duration::from_secs(14 * 24 * 3600);

/// How long they last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub life: Duration,
    pub rotation: Duration,
}

/// The one in use and the next.
pub(crate) struct Pinned {
    directory: PathBuf,
    names: Vec<String>,
    schedule: Schedule,
    current: Certificate,
    next: Certificate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Certificate {
    /// When it comes into use.
    from: SystemTime,
    hash: String,
}

impl Pinned {
    /// Reads what `directory` holds and makes what is missing.
    pub fn open(directory: PathBuf, names: Vec<String>, schedule: Schedule, now: SystemTime) -> Result<Self> {
        ensure!(schedule.life < MAX_LIFETIME, "a pinned certificate is good for less than 14 days");
        ensure!(
            schedule.life >= 2 * schedule.rotation + BACKDATED,
            "a pinned certificate is good for two rotations and an hour at least"
        );
        for part in ["current", "next"] {
            let path = directory.join(part);
            fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        let found = [file(&directory, "current"), file(&directory, "next")].map(|path| read(&path).ok());
        let missing = Certificate { from: UNIX_EPOCH, hash: String::new() };
        let [current, next] = found.map(|found| found.unwrap_or_else(|| missing.clone()));
        let mut pinned = Self { directory, names, schedule, current, next };
        pinned.rotate_if_due(now)?;
        Ok(pinned)
    }

    /// What the listener reads, key and chain.
    pub fn file(&self) -> PathBuf {
        file(&self.directory, "current")
    }

    /// SHA-256 of both, base64.
    pub fn hashes(&self) -> Vec<String> {
        vec![self.current.hash.clone(), self.next.hash.clone()]
    }

    /// Rotates if it is time to.
    pub fn rotate_if_due(&mut self, now: SystemTime) -> Result<()> {
        if !self.serves(&self.current, now) {
            if !self.serves(&self.next, now) {
                self.next = self.make(now, now)?;
            }
            fs::rename(file(&self.directory, "next"), self.file()).context("cannot put the certificate in use")?;
            self.current = self.next.clone();
            tracing::info!(hash = self.current.hash, "certificate in use");
        }
        let due = self.current.from + self.schedule.rotation;
        if self.next.from != due {
            self.next = self.make(due, now)?;
        }
        Ok(())
    }

    fn serves(&self, certificate: &Certificate, now: SystemTime) -> bool {
        certificate.from <= now && now < certificate.from + self.schedule.rotation
    }

    /// Writes the next one, to be used from then on.
    fn make(&self, from: SystemTime, now: SystemTime) -> Result<Certificate> {
        let from = u64::try_from(from.duration_since(UNIX_EPOCH)?.as_millis())?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::new(self.names.clone())?;
        params.not_before = (now - BACKDATED).into();
        params.not_after = (now - BACKDATED + self.schedule.life).into();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let chain = pem("CERTIFICATE", params.self_signed(&key)?.der());
        let text = format!("{FROM}{from}\n{chain}{}", pem("PRIVATE KEY", &key.serialize_der()));
        replace(&file(&self.directory, "next"), &text)?;
        Ok(Certificate { from: UNIX_EPOCH + Duration::from_millis(from), hash: hash(&chain)? })
    }
}

/// The first line of a file: when it comes into use, in ms since 1970.
const FROM: &str = "In use from: ";

fn file(directory: &Path, part: &str) -> PathBuf {
    directory.join(part).join("relay.pem")
}

fn read(path: &Path) -> Result<Certificate> {
    let text = fs::read_to_string(path)?;
    let from = text.lines().next().and_then(|line| line.strip_prefix(FROM)).context("no time")?;
    Ok(Certificate { from: UNIX_EPOCH + Duration::from_millis(from.parse()?), hash: hash(&text)? })
}

fn replace(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let unfinished = path.with_extension("new");
    let mut out = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(unfinished, path).with_context(|| format!("cannot write {}", path.display()))
}

fn pem(label: &str, der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        let _ = writeln!(text, "{}", String::from_utf8_lossy(line));
    }
    let _ = writeln!(text, "-----END {label}-----");
    text
}

fn hash(chain: &str) -> Result<String> {
    let served = moq_tokio::tls::Certificates::from_pem(chain.as_bytes())?;
    let first = served.fingerprints().into_iter().next().context("no certificate")?;
    Ok(BASE64_STANDARD.encode(moq_tokio::tls::parse_fingerprint(&first)?))
}

/// As the QUIC client wants it.
pub(crate) fn hex(hash: &str) -> Result<String> {
    let bytes = BASE64_STANDARD.decode(hash).context("a certificate's hash is base64")?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);
    const SCHEDULE: Schedule =
        Schedule { life: Duration::from_secs(10 * 24 * 3600), rotation: Duration::from_secs(4 * 24 * 3600) };

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("parley-media-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn open(&self, now: SystemTime) -> Pinned {
            Pinned::open(self.0.clone(), vec!["localhost".into()], SCHEDULE, now).unwrap()
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn start() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    #[test]
    fn med_21_the_announced_next_is_the_one_in_use_after_a_rotation() {
        let directory = Directory::new("rotation");
        let mut pinned = directory.open(start());
        let before = pinned.hashes();
        assert_ne!(before[0], before[1]);
        pinned.rotate_if_due(start() + 4 * DAY - Duration::from_secs(1)).unwrap();
        assert_eq!(pinned.hashes(), before);
        pinned.rotate_if_due(start() + 4 * DAY).unwrap();
        let after = pinned.hashes();
        assert_eq!(after[0], before[1]);
        assert!(!before.contains(&after[1]));
        assert_eq!(read(&pinned.file()).unwrap().hash, after[0]);
    }

    #[test]
    fn med_22_certificates_outlive_the_process() {
        let directory = Directory::new("restart");
        let before = directory.open(start()).hashes();
        assert_eq!(directory.open(start() + DAY).hashes(), before);
        assert_eq!(directory.open(start() + 5 * DAY).hashes()[0], before[1]);
    }

    #[test]
    fn med_22_after_a_long_pause_or_with_a_clock_set_back_there_are_new_ones() {
        let directory = Directory::new("pause");
        let before = directory.open(start()).hashes();
        let later = directory.open(start() + 30 * DAY).hashes();
        assert!(later.iter().all(|hash| !before.contains(hash)));
        let earlier = directory.open(start() - DAY).hashes();
        assert!(earlier.iter().all(|hash| !later.contains(hash)));
    }

    #[test]
    fn med_20_nothing_lies_beside_the_certificate_in_use() {
        let directory = Directory::new("alone");
        let mut pinned = directory.open(start());
        pinned.rotate_if_due(start() + 4 * DAY).unwrap();
        assert_eq!(fs::read_dir(directory.0.join("current")).unwrap().count(), 1);
    }

    #[test]
    fn med_20_lives_that_browsers_refuse_are_refused() {
        let directory = Directory::new("life");
        for (life, rotation) in [(14 * DAY, 4 * DAY), (8 * DAY, 4 * DAY)] {
            let schedule = Schedule { life, rotation };
            assert!(Pinned::open(directory.0.clone(), vec!["localhost".into()], schedule, start()).is_err());
        }
    }
}
