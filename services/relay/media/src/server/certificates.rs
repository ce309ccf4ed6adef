//! The relay's own certificates (MED-20 to MED-22): the current one, and the next one, whose hash is announced for a whole rotation before its use.
//!
//! Each is one file with key and chain. The current one is alone in a directory that the server watches, as any write in it causes a reload. The next
//! one is in another directory, and a rename makes it current.
use anyhow::{Context, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P256_SHA256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far the start of validity is in the past, for clients whose clock is behind.
const BACKDATED: Duration = Duration::from_secs(3600);

/// The longest lifetime that browsers accept (W3C WebTransport, "custom certificate requirements").
const MAX_LIFETIME: Duration = Duration::from_secs(14 * 24 * 3600);

/// The lifetime and the time in use of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub life: Duration,
    pub rotation: Duration,
}

/// The current certificate and the next.
pub(crate) struct Pinned {
    directory: PathBuf,
    names: Vec<String>,
    schedule: Schedule,
    current: Certificate,
    next: Certificate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Certificate {
    /// The begin of its use.
    from: SystemTime,
    hash: String,
}

impl Pinned {
    /// Reads the certificates in `directory` and makes missing ones.
    pub fn open(directory: PathBuf, names: Vec<String>, schedule: Schedule, now: SystemTime) -> Result<Self> {
        ensure!(schedule.life < MAX_LIFETIME, "the lifetime of a pinned certificate must be less than 14 days");
        ensure!(
            schedule.life >= 2 * schedule.rotation + BACKDATED,
            "the lifetime of a pinned certificate must be at least two rotations and an hour"
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

    /// Returns the file with the current key and chain.
    pub fn file(&self) -> PathBuf {
        file(&self.directory, "current")
    }

    /// Returns the SHA-256 of the current and the next certificate, base64.
    pub fn hashes(&self) -> Vec<String> {
        vec![self.current.hash.clone(), self.next.hash.clone()]
    }

    /// Rotates the certificates if a rotation is due.
    pub fn rotate_if_due(&mut self, now: SystemTime) -> Result<()> {
        if !self.serves(&self.current, now) {
            if !self.serves(&self.next, now) {
                self.next = self.make(now, now)?;
            }
            fs::rename(file(&self.directory, "next"), self.file()).context("cannot make the certificate current")?;
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

    /// Writes the next certificate, whose use begins at `from`.
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

/// The first line of a file: the begin of its use, in ms since 1970.
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

/// Converts a hash from base64 to hex, which the QUIC client requires.
pub(crate) fn hex(hash: &str) -> Result<String> {
    let bytes = BASE64_STANDARD.decode(hash).context("the hash of a certificate is not base64")?;
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
    fn med_21_the_announced_certificate_is_current_after_a_rotation() {
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
    fn med_22_after_a_long_pause_or_with_a_clock_set_back_certificates_are_new() {
        let directory = Directory::new("pause");
        let before = directory.open(start()).hashes();
        let later = directory.open(start() + 30 * DAY).hashes();
        assert!(later.iter().all(|hash| !before.contains(hash)));
        let earlier = directory.open(start() - DAY).hashes();
        assert!(earlier.iter().all(|hash| !later.contains(hash)));
    }

    #[test]
    fn med_20_the_current_certificate_is_alone_in_its_directory() {
        let directory = Directory::new("alone");
        let mut pinned = directory.open(start());
        pinned.rotate_if_due(start() + 4 * DAY).unwrap();
        assert_eq!(fs::read_dir(directory.0.join("current")).unwrap().count(), 1);
    }

    #[test]
    fn med_20_lifetimes_that_browsers_refuse_are_refused() {
        let directory = Directory::new("life");
        for (life, rotation) in [(14 * DAY, 4 * DAY), (8 * DAY, 4 * DAY)] {
            let schedule = Schedule { life, rotation };
            assert!(Pinned::open(directory.0.clone(), vec!["localhost".into()], schedule, start()).is_err());
        }
    }
}
