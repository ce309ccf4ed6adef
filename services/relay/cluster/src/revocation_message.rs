//! The messages about revocations between pods. Rule STR-118.
use parley_access::Entry;
use serde::{Deserialize, Serialize};

/// A message about revocations.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RevocationMessage {
    /// Some of the revocations of a pod.
    Revoked(Vec<Entry>),
    /// The digest of all revocations of a pod.
    Digest(u64),
}

/// The entries of one message: with names of the greatest length they fit into a message of NATS (1 MB).
pub const MAX_ENTRIES: usize = 100;
/// The size limit of an entry: a name of 1024 bytes, each of which JSON writes as six.
const MAX_ENTRY: usize = 8 * 1024;

impl RevocationMessage {
    /// Parses a message. `None`: it is not a message about revocations.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let message = (bytes.len() <= MAX_ENTRIES * MAX_ENTRY).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        let fits = !matches!(&message, RevocationMessage::Revoked(entries) if entries.len() > MAX_ENTRIES);
        fits.then_some(message)
    }

    /// The message as JSON.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_access::{Revocation, Term};

    fn entries(count: usize, name: &str) -> RevocationMessage {
        let revocation = Revocation::Subject(name.into());
        RevocationMessage::Revoked(vec![Entry { revocation, term: Term::all(5) }; count])
    }

    #[test]
    fn str_118_a_message_is_parsed_as_it_was_written_and_fits_into_a_message_of_nats() {
        for message in
            [entries(0, ""), entries(MAX_ENTRIES, &"\u{1}".repeat(1024)), RevocationMessage::Digest(u64::MAX)]
        {
            assert_eq!(RevocationMessage::read(&message.bytes()), Some(message));
        }
        assert!(entries(MAX_ENTRIES, &"\u{1}".repeat(1024)).bytes().len() < 1_000_000);
        assert_eq!(entries(1, "ada").bytes(), br#"{"revoked":[{"sub":"ada","until":5}]}"#);
        let departure =
            Entry { revocation: Revocation::Subject("p0".into()), term: Term { generation: Some(2), until: 5 } };
        let text = br#"{"revoked":[{"sub":"p0","generation":2,"until":5}]}"#;
        assert_eq!(RevocationMessage::read(text), Some(RevocationMessage::Revoked(vec![departure])));
    }

    #[test]
    fn str_119_a_message_that_is_not_about_revocations_is_refused() {
        let long = format!(r#"{{"digest":1{}}}"#, " ".repeat(MAX_ENTRIES * MAX_ENTRY));
        let many = entries(MAX_ENTRIES + 1, "a").bytes();
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
            assert_eq!(
                RevocationMessage::read(bytes),
                None,
                "{}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
            );
        }
    }
}
