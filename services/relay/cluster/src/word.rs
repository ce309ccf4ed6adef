//! What pods tell each other of revocations. Rule STR-118.
use parley_access::Entry;
use serde::{Deserialize, Serialize};

/// One message.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Some of what is revoked.
    Revoked(Vec<Entry>),
    /// The digest of all that is revoked.
    Digest(u64),
}

/// Entries of one message, so that the longest names fit into what NATS takes at once (1 MB).
pub const ENTRIES: usize = 100;
/// An entry whose name has 1024 bytes that JSON writes as six each.
const ENTRY: usize = 8 * 1024;

impl Word {
    /// Reads what came on the bus. `None`: no word.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = (bytes.len() <= ENTRIES * ENTRY).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        let fits = !matches!(&word, Word::Revoked(entries) if entries.len() > ENTRIES);
        fits.then_some(word)
    }

    /// As it goes onto the bus.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_access::{Revocation, Term};

    fn entries(count: usize, name: &str) -> Word {
        let whom = Revocation::Subject(name.into());
        Word::Revoked(vec![Entry { whom, term: Term::all(5) }; count])
    }

    #[test]
    fn str_118_a_word_is_read_as_it_was_written_and_fits_into_a_message() {
        for word in [entries(0, ""), entries(ENTRIES, &"\u{1}".repeat(1024)), Word::Digest(u64::MAX)] {
            assert_eq!(Word::read(&word.bytes()), Some(word));
        }
        assert!(entries(ENTRIES, &"\u{1}".repeat(1024)).bytes().len() < 1_000_000);
        assert_eq!(entries(1, "ada").bytes(), br#"{"revoked":[{"sub":"ada","until":5}]}"#);
    }

    #[test]
    fn str_119_what_is_no_word_is_none() {
        let long = format!(r#"{{"digest":1{}}}"#, " ".repeat(ENTRIES * ENTRY));
        let many = entries(ENTRIES + 1, "a").bytes();
        let cases: [&[u8]; 10] = [
            b"",
            b"null",
            b"{}",
            br#"{"digest":-1}"#,
            br#"{"digest":1e99}"#,
            br#"{"revoked":[{"sub":"a"}]}"#,
            br#"{"revoked":[{"until":1}]}"#,
            br#"{"revoked":[{"iss":"a","until":1}]}"#,
            long.as_bytes(),
            &many,
        ];
        for bytes in cases {
            assert_eq!(Word::read(bytes), None, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(80)]));
        }
    }
}
