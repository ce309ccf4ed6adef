//! Signs valid and invalid tokens, without code of the verification.
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parley_access::{Keys, Rules};
use parley_net::codes::Code;
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

pub const AUDIENCE: &str = "parley:streams";
pub const SECRET: &str = "a secret of thirty-two bytes ...";
pub const KID: &str = "k1";
const SEED: [u8; 32] = [7; 32];

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap()
}

/// Returns the key set as signaling has it, with the private key.
pub fn key_set() -> String {
    let (x, d) = (URL_SAFE_NO_PAD.encode(pair().public_key()), URL_SAFE_NO_PAD.encode(SEED));
    let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": KID, "x": x, "d": d, "alg": "EdDSA", "use": "sig"});
    json!({"active": KID, "keys": [key]}).to_string()
}

/// Returns rules with the secret and the key set.
pub fn rules() -> Rules {
    let keys = Keys::default().with_secret(SECRET).unwrap().with_set(&key_set()).unwrap();
    Rules { audience: AUDIENCE.into(), keys }
}

/// Makes claims that allow all topics below `lab/` for a minute, with `changes`; null removes a claim.
pub fn claims(changes: Value) -> Value {
    let mut claims = json!({"aud": AUDIENCE, "exp": now() + 60, "publish": ["lab/**"], "subscribe": ["lab/**"]});
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

pub fn signed(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

pub fn hmac_with(key: &[u8]) -> impl Fn(&[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    move |message| hmac::sign(&key, message).as_ref().to_vec()
}

/// Signs with the shared secret.
pub fn hs256(claims: &Value) -> String {
    signed(&json!({"alg": "HS256", "typ": "JWT"}), claims, hmac_with(SECRET.as_bytes()))
}

/// Signs with the key set.
pub fn eddsa(claims: &Value) -> String {
    signed(&json!({"alg": "EdDSA", "kid": KID}), claims, |message| pair().sign(message).as_ref().to_vec())
}

/// Returns invalid tokens, each with the reason and the expected code.
#[allow(clippy::too_many_lines, reason = "a table of cases")]
pub fn bad() -> Vec<(&'static str, String, Code)> {
    let good = claims(json!({}));
    let public = pair().public_key().as_ref().to_vec();
    let published = URL_SAFE_NO_PAD.encode(&public);
    let confused = |key: &[u8], kid: Value| {
        let mut header = json!({"alg": "HS256", "kid": kid});
        header.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        signed(&header, &good, hmac_with(key))
    };
    let none = |alg: &str| signed(&json!({ "alg": alg }), &good, |_| Vec::new());
    let own = |message: &[u8]| pair().sign(message).as_ref().to_vec();
    let tampered = {
        let (one, other) = (hs256(&good), hs256(&claims(json!({"publish": ["**"]}))));
        let (mut parts, others): (Vec<_>, Vec<_>) = (one.split('.').collect(), other.split('.').collect());
        parts[1] = others[1];
        parts.join(".")
    };
    let mut cases = vec![
        ("wrong secret", signed(&json!({"alg": "HS256"}), &good, hmac_with(&[9; 32])), Code::TokenInvalid),
        ("alg none", none("none"), Code::TokenInvalid),
        ("alg None", none("None"), Code::TokenInvalid),
        ("no signature", none("HS256"), Code::TokenInvalid),
        ("HS256 with the public key", confused(&public, json!(KID)), Code::TokenInvalid),
        ("HS256 with the public key as text", confused(published.as_bytes(), json!(KID)), Code::TokenInvalid),
        ("HS256 with the public key, no kid", confused(&public, json!(null)), Code::TokenInvalid),
        ("the secret under a kid", confused(SECRET.as_bytes(), json!(KID)), Code::TokenInvalid),
        ("the secret under an unknown kid", confused(SECRET.as_bytes(), json!("k2")), Code::TokenInvalid),
        ("EdDSA without kid", signed(&json!({"alg": "EdDSA"}), &good, own), Code::TokenInvalid),
        ("unknown kid", signed(&json!({"alg": "EdDSA", "kid": "k2"}), &good, own), Code::TokenInvalid),
        (
            "an extension that must be understood",
            signed(&json!({"alg": "EdDSA", "kid": KID, "crit": ["b64"], "b64": false}), &good, own),
            Code::TokenInvalid,
        ),
        ("claims exchanged", tampered, Code::TokenInvalid),
        ("no token", "hello".into(), Code::TokenInvalid),
        ("dots", "..".into(), Code::TokenInvalid),
        ("four parts", format!("{}.x", hs256(&good)), Code::TokenInvalid),
        ("64 patterns and one", hs256(&claims(json!({"publish": vec!["a"; 65]}))), Code::TokenInvalid),
    ];
    let list = |changes: Value| hs256(&claims(changes));
    cases.extend([
        ("expired", list(json!({"exp": now()})), Code::TokenExpired),
        ("long expired", list(json!({"exp": 1})), Code::TokenExpired),
        ("not yet valid", list(json!({"nbf": now() + 60})), Code::TokenNotYetValid),
        ("made in the future", list(json!({"iat": now() + 60})), Code::TokenNotYetValid),
        ("no expiry", list(json!({"exp": null})), Code::TokenInvalid),
        ("expiry as text", list(json!({"exp": "2099"})), Code::TokenInvalid),
        ("negative expiry", list(json!({"exp": -1})), Code::TokenInvalid),
        ("endless", list(json!({"exp": u64::MAX})), Code::TokenInvalid),
        ("lives too long", list(json!({"exp": now() + 100_000})), Code::TokenInvalid),
        ("lives too long by its iat", list(json!({"iat": now() - 86_400})), Code::TokenInvalid),
        ("no audience", list(json!({"aud": null})), Code::TokenInvalid),
        ("a star in a name", list(json!({"publish": ["lab*"]})), Code::TokenInvalid),
        ("a long jti", list(json!({"jti": "j".repeat(129)})), Code::TokenInvalid),
        ("other audience", list(json!({"aud": "parley:ticket"})), Code::TokenInsufficientScope),
        ("other audiences", list(json!({"aud": ["a", "b"]})), Code::TokenInsufficientScope),
        ("audience of another path", list(json!({"aud": format!("{AUDIENCE}/lab/8")})), Code::TokenInsufficientScope),
        ("audience of a path below", list(json!({"aud": format!("{AUDIENCE}/lab/7/x")})), Code::TokenInsufficientScope),
        ("other topic", list(json!({"publish": ["lab/8"], "subscribe": ["lab"]})), Code::TokenInsufficientScope),
        ("no topic", list(json!({"publish": null, "subscribe": null})), Code::TokenInsufficientScope),
    ]);
    cases
}
