//! The page at `/stats`: four small files, kept in the binary. Rule STR-62.

/// One of its files.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Of its content.
    pub content_type: &'static str,
    /// Its content.
    pub body: &'static str,
}

/// The file at this path.
pub fn at(path: &str) -> Option<Asset> {
    let asset = |content_type, body| Some(Asset { content_type, body });
    match path {
        "/stats" => asset("text/html; charset=utf-8", include_str!("page/stats.html")),
        "/stats/stats.css" => asset("text/css; charset=utf-8", include_str!("page/stats.css")),
        "/stats/stats.js" => asset("text/javascript; charset=utf-8", include_str!("page/stats.js")),
        "/stats/stats.svg" => asset("image/svg+xml", include_str!("page/stats.svg")),
        _ => None,
    }
}

/// What the page may do: load its own files and ask its own relay. `wss:` and `ws:` to its own host are `'self'` only in
/// newer browsers, so the host is spelled out as well where it is plain.
pub fn policy(host: Option<&str>) -> String {
    let plain = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let own = host.filter(plain).map(|host| format!(" ws://{host} wss://{host}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{own}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}
