//! The regions of an installation, as clients use them (REG-7 to REG-10 and MEDIA-26 of the protocol's `SPEC.md`). What operators do with
//! regions is in [`crate::region`].
use parley_protocol::shared::RegionList;
use url::Url;

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name in the list of the operator.
    pub name: String,
    /// The origin of its API.
    pub url: Url,
}

/// The regions of a list whose origins are URLs.
pub fn places(list: &RegionList) -> Vec<Place> {
    let place = |region: &parley_protocol::shared::Region| {
        Some(Place { name: region.name.to_string(), url: region.url.parse().ok()? })
    };
    list.regions.iter().filter_map(place).collect()
}
