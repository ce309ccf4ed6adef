//! Tokens: a forged one is never accepted, and a valid one allows no more than its claims.
use crate::random::{Random, campaign};
use crate::signer::{AUDIENCE, KID, SECRET, claims, eddsa, hmac_with, hs256, now, rules, signed};
use parley_access::{pattern, scope, token};
use parley_relay::limits::Limits;
use parley_streams::route;
use serde_json::{Value, json};

fn good() -> [String; 3] {
    let other = claims(json!({"sub": "ada", "admin": true}));
    [hs256(&claims(json!({}))), hs256(&other), eddsa(&other)]
}

#[test]
fn str_101_a_changed_token_is_refused() {
    let (good, rules, limits) = (good(), rules(), Limits::default());
    let headers = [
        json!({"alg": "none"}),
        json!({"alg": "EdDSA", "kid": KID}),
        json!({"alg": "HS256", "kid": KID}),
        json!({"alg": "HS256", "crit": ["x"]}),
    ];
    let generate = |random: &mut Random| {
        let token = good[random.below(good.len())].clone();
        match random.below(4) {
            0 => token.into_bytes(),
            1 => {
                let header = &headers[random.below(headers.len())];
                let key = [SECRET.as_bytes(), b"", b"another secret of thirty-two byt"][random.below(3)];
                let forged = signed(header, &claims(json!({})), hmac_with(key));
                if random.below(2) == 0 {
                    forged.into_bytes()
                } else {
                    format!("{}.", forged.rsplit_once('.').unwrap().0).into_bytes()
                }
            }
            _ => random.edited(token.into_bytes()),
        }
    };
    campaign("forged-tokens", 20, generate, |bytes| {
        let read = token::read(bytes, &rules.keys, &limits.access(), now());
        assert!(read.is_err() || good.iter().any(|one| one.as_bytes() == bytes), "{}", String::from_utf8_lossy(bytes));
        read.is_ok()
    });
}

/// Makes random claims and signs them with a valid key.
fn signed_claims(random: &mut Random) -> Vec<u8> {
    let patterns = ["lab/**", "lab/*", "**", "lab/7", "a/**/b", "", "*a", "lab//7", "in/lab/7"];
    let list = |random: &mut Random| -> Value {
        (0..random.below(4)).map(|_| patterns[random.below(patterns.len())]).collect::<Vec<_>>().into()
    };
    let mut claims = json!({
        "aud": ([AUDIENCE, "parley:streams/lab/7", "parley:streams/in/lab/7", "other", ""][random.below(5)]),
        "exp": now() + [1, 60, 600, 10_000_000][random.below(4)],
        "publish": list(random),
        "subscribe": list(random),
    });
    let odd = [
        json!(null),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!("5"),
        json!([]),
        json!({}),
        json!(true),
        json!("x".repeat(2000)),
        json!(0),
    ];
    for name in ["exp", "nbf", "iat", "generation", "sub", "jti", "aud", "publish", "admin"] {
        if random.below(16) == 0 {
            claims[name] = odd[random.below(odd.len())].clone();
        }
    }
    claims.to_string().into_bytes()
}

#[test]
fn str_105_a_signed_token_allows_only_its_claims() {
    let (rules, limits) = (rules(), Limits::default());
    let header = json!({"alg": "HS256"});
    let paths =
        ["/lab/7", "/in/lab/7", "/out/lab/7", "/other", "/lab/7/8"].map(|path| route::parse(path, 512).unwrap());
    campaign("signed-claims", 20, signed_claims, |bytes| {
        let Ok(said) = serde_json::from_slice::<Value>(bytes) else { return false };
        let token = signed(&header, &said, hmac_with(SECRET.as_bytes()));
        let now = now();
        let Ok(claims) = token::read(token.as_bytes(), &rules.keys, &limits.access(), now) else { return false };
        let patterns: Vec<String> = claims.publish.iter().chain(&claims.subscribe).cloned().collect();
        assert!(patterns.iter().all(|one| pattern::is_valid(one)), "{said}");
        for route in &paths {
            let Ok(role) = scope::role(&claims, &rules.audience, route) else { continue };
            assert!(route.role.publishes() || !role.publishes(), "{said} may publish on {route:?}");
            assert!(route.role.subscribes() || !role.subscribes(), "{said} may subscribe on {route:?}");
            assert!(said["aud"] == AUDIENCE || said["aud"].to_string().contains("lab/7"), "{said} on {route:?}");
        }
        let grant = claims.grant();
        assert!(
            grant.until > now && grant.until <= now + (limits.token_lifetime + limits.token_leeway) / 1000,
            "{said}"
        );
        true
    });
}
