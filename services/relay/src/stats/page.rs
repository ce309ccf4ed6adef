//! The page at `/stats`: four small files that are embedded in the binary. Rule STR-62.

/// One file of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    /// The type of its content.
    pub content_type: &'static str,
    /// Its content.
    pub body: &'static str,
}

/// The file at this path.
pub(crate) fn at(path: &str) -> Option<Asset> {
    let asset = |content_type, body| Some(Asset { content_type, body });
    match path {
        "/stats" => asset("text/html; charset=utf-8", include_str!("page/stats.html")),
        "/stats/stats.css" => asset("text/css; charset=utf-8", include_str!("page/stats.css")),
        "/stats/stats.js" => asset("text/javascript; charset=utf-8", include_str!("page/stats.js")),
        "/stats/stats.svg" => asset("image/svg+xml", include_str!("page/stats.svg")),
        _ => None,
    }
}

/// The content security policy: the page may load its own files and connect to its own relay. Only newer browsers include `wss:` and `ws:` of the
/// own host in `'self'`, so the policy also names the host, if it has only plain characters.
pub fn policy(host: Option<&str>) -> String {
    let plain = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let own = host.filter(plain).map(|host| format!(" ws://{host} wss://{host}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{own}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}
