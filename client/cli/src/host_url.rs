//! The URLs of a Parley host: `https://HOST/PATH`.
use url::Url;

/// `https://HOST/`: without path, query and fragment.
pub fn host_of(url: &Url) -> Url {
    let mut host = url.clone();
    host.set_path("/");
    host.set_query(None);
    host.set_fragment(None);
    host
}

/// The segments of the path that are not empty.
pub fn segments(url: &Url) -> Vec<&str> {
    url.path().split('/').filter(|segment| !segment.is_empty()).collect()
}
