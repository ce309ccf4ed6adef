//! The regions of an installation, as clients use them (REG-7 to REG-10 and MEDIA-26 of the protocol's `SPEC.md`). What operators do with
//! regions is in [`crate::region`].
//!
//! | module | content |
//! |---|---|
//! | [`handover`] | decides whether a participant that lost its socket resumes in another region |
pub mod handover;

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

/// The regions as a participant knows them. It begins in the region of the address that the user names (REG-8).
#[derive(Clone, Debug, Default)]
pub struct Regions {
    all: Vec<Place>,
    /// The name of the region of its socket.
    current: Option<String>,
    /// The name of the region in which it was welcomed first.
    first: Option<String>,
}

impl Regions {
    /// Of an answer or a welcome: none where the installation has one region.
    pub fn learn(&mut self, list: Option<&RegionList>) {
        self.all = list.map_or_else(Vec::new, places);
        if let Some(list) = list {
            self.current = Some(list.region.to_string());
        }
    }

    /// The participant was welcomed.
    pub fn welcomed(&mut self, list: Option<&RegionList>) {
        self.learn(list);
        self.first = self.first.take().or_else(|| self.current.clone());
    }

    /// The participant uses this region from now on.
    pub fn use_region(&mut self, place: &Place) {
        self.current = Some(place.name.clone());
    }

    /// All regions and the name of its own, where there are others to go to.
    pub fn choice(&self) -> Option<(&[Place], &str)> {
        let current = self.current.as_deref()?;
        (self.all.len() > 1).then_some((&self.all, current))
    }

    /// The region to which the participant returns, where it had to leave it (REG-10).
    pub fn left(&self) -> Option<&Place> {
        let first = self.first.as_ref().filter(|first| Some(*first) != self.current.as_ref())?;
        self.all.iter().find(|place| place.name == *first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_protocol::decode;

    fn list(own: &str, names: &[&str]) -> RegionList {
        let regions: Vec<_> =
            names.iter().map(|name| format!(r#"{{"name":"{name}","url":"https://{name}"}}"#)).collect();
        decode(format!(r#"{{"region":"{own}","regions":[{}]}}"#, regions.join(",")).as_bytes()).unwrap()
    }

    #[test]
    fn reg_10_a_region_that_was_left_is_the_one_of_the_first_welcome() {
        let mut regions = Regions::default();
        assert_eq!((regions.choice(), regions.left()), (None, None));
        regions.welcomed(Some(&list("eu", &["eu", "us"])));
        assert_eq!((regions.choice().unwrap().1, regions.left()), ("eu", None));
        let us = regions.choice().unwrap().0[1].clone();
        assert_eq!(us.url.as_str(), "https://us/");
        regions.use_region(&us);
        regions.welcomed(Some(&list("us", &["eu", "us"])));
        assert_eq!((regions.choice().unwrap().1, &*regions.left().unwrap().name), ("us", "eu"));
        regions.welcomed(Some(&list("us", &["us", "ap"])));
        assert_eq!(regions.left(), None, "the operator removed it");
        regions.welcomed(None);
        assert_eq!(regions.choice(), None);
    }
}
