//! `parley stream token`: signs an HS256 token, to try a relay out. Rules STR-101 to STR-106.
use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parley_protocol::audiences::STREAMS_AUDIENCE;
use ring::hmac;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Signs a token with the relay's shared secret, and writes it to standard output.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The audience of the relay; with a topic's path appended, the token is for that topic, as in Crossbar
    #[arg(long, default_value = STREAMS_AUDIENCE)]
    audience: String,
    /// Topics to which the token permits to publish: lab/7, lab/*/video, lab/**; repeatable
    #[arg(long, value_name = "PATTERN")]
    publish: Vec<String>,
    /// Topics to which the token permits to subscribe; repeatable
    #[arg(long, value_name = "PATTERN")]
    subscribe: Vec<String>,
    /// The lifetime: 90s, 30m, 1h, 7d
    #[arg(long, default_value = "1h", value_parser = lifetime, value_name = "TIME")]
    expires: Duration,
    /// The subject, by which revocations name it
    #[arg(long)]
    subject: Option<String>,
    /// The id, by which revocations name it
    #[arg(long)]
    id: Option<String>,
    /// Permit to revoke other tokens
    #[arg(long)]
    admin: bool,
    /// Permit to read the statistics of the relay
    #[arg(long)]
    stats: bool,
    /// File that contains the secret; otherwise PARLEY_TOKEN_SECRET contains it
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    iat: u64,
    exp: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    publish: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    subscribe: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    admin: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stats: bool,
}

/// Not a flag: all users of a machine can read command lines.
const SECRET: &str = "PARLEY_TOKEN_SECRET";
/// RFC 7518 section 3.2: the key has at least the size of the hash.
const SECRET_BYTES: usize = 32;

impl Flags {
    /// Prints the token.
    pub fn run(self) -> anyhow::Result<()> {
        println!("{}", self.sign(&self.secret()?, SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?);
        Ok(())
    }

    fn secret(&self) -> anyhow::Result<String> {
        let secret = match &self.secret_file {
            Some(path) => std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
            None => {
                std::env::var(SECRET).with_context(|| format!("--secret-file or {SECRET} must contain the secret"))?
            }
        };
        Ok(secret.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn sign(&self, secret: &str, now: u64) -> anyhow::Result<String> {
        ensure!(secret.len() >= SECRET_BYTES, "the secret must be at least {SECRET_BYTES} bytes long");
        let claims = Claims {
            aud: &self.audience,
            iat: now,
            exp: now + self.expires.as_secs(),
            publish: &self.publish,
            subscribe: &self.subscribe,
            sub: self.subject.as_deref(),
            jti: self.id.as_deref(),
            admin: self.admin,
            stats: self.stats,
        };
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims)?));
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn lifetime(text: &str) -> anyhow::Result<Duration> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];
    for (unit, seconds) in units {
        if let Some(amount) =
            text.strip_suffix(unit).and_then(|amount| amount.parse::<u32>().ok()).filter(|amount| *amount > 0)
        {
            return Ok(Duration::from_secs(u64::from(amount) * seconds));
        }
    }
    bail!("must be a number with s, m, h or d, such as 1h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_unit() {
        assert_eq!(lifetime("90s").unwrap(), lifetime("90s").unwrap());
        assert_eq!(lifetime("2d").unwrap().as_secs(), 172_800);
        for bad in ["", "1", "h", "-1h", "0s", "1.5h", "99999999999s"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_is_signed_as_in_rfc_7515() {
        let flags = Flags {
            audience: "relay".into(),
            publish: vec!["lab/**".into()],
            subscribe: Vec::new(),
            expires: Duration::from_secs(60),
            subject: Some("rig".into()),
            id: None,
            admin: false,
            stats: false,
            secret_file: None,
        };
        let token = flags.sign(&"s".repeat(32), 1000).unwrap();
        let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!() };
        let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
        assert_eq!(claims, br#"{"aud":"relay","iat":1000,"exp":1060,"publish":["lab/**"],"sub":"rig"}"#);
        let signed = &token[..token.len() - signature.len() - 1];
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[b's'; 32]);
        hmac::verify(&key, signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(head).unwrap(), br#"{"alg":"HS256","typ":"JWT"}"#);
        assert!(flags.sign("short", 0).unwrap_err().to_string().contains("at least 32 bytes"));
    }
}
