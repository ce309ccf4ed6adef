//! Values as people write them, one for both directions or one for each.
use std::time::Duration;

/// Far above what any network takes, and far below what overflows.
const LONGEST: Duration = Duration::from_secs(60);
/// A packet of 1400 bytes takes 11 s then.
const SLOWEST: f64 = 1000.0;

/// A direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From A to B.
    There,
    /// From B to A.
    Back,
}

/// A value for each direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Both<T> {
    there: T,
    back: T,
}

impl<T: Copy> Both<T> {
    pub fn of(&self, way: Way) -> T {
        match way {
            Way::There => self.there,
            Way::Back => self.back,
        }
    }
}

/// `VALUE` for both directions, or `THERE,BACK`.
pub fn both<T: Copy>(
    one: impl Fn(&str) -> Result<T, String> + Clone,
) -> impl Fn(&str) -> Result<Both<T>, String> + Clone {
    move |text| match text.split_once(',') {
        Some((there, back)) => Ok(Both { there: one(there)?, back: one(back)? }),
        None => one(text).map(|value| Both { there: value, back: value }),
    }
}

/// `45ms`, `1.5s`, `500us` or `0`, up to a minute.
pub fn time(text: &str) -> Result<Duration, String> {
    let seconds = match unit(text, &[("ms", 1e-3), ("us", 1e-6), ("s", 1.0)]) {
        None if text == "0" => Some(0.0),
        seconds => seconds,
    };
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| *time <= LONGEST).ok_or_else(|| format!("a time is like 45ms, 0 to 60s, not {text}"))
}

/// A chance from 0 to 1.
pub fn loss(text: &str) -> Result<f64, String> {
    let chance = text.parse().ok().filter(|chance| (0.0..=1.0).contains(chance));
    chance.ok_or_else(|| format!("loss is a chance from 0 to 1, not {text}"))
}

/// Bits a second, `20mbit`, from 1kbit on; `none` where there is no limit.
pub fn rate(text: &str) -> Result<Option<f64>, String> {
    if text == "none" {
        return Ok(None);
    }
    let bits = unit(text, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]).filter(|bits| bits.is_finite());
    let bits = bits.filter(|bits| *bits >= SLOWEST);
    bits.map(Some).ok_or_else(|| format!("a rate is like 20mbit, from 1kbit on, or none, not {text}"))
}

/// A number with one of these units; the first that fits.
fn unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) = units.iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, micros) in [("45ms", 45_000), ("1.5s", 1_500_000), ("500us", 500), ("0", 0), ("60s", 60_000_000)] {
            assert_eq!(time(text), Ok(Duration::from_micros(micros)), "{text}");
        }
        for wrong in ["", "45", "ms", "-1ms", "61s", "nans", "infs", "4 5ms", "1h"] {
            assert!(time(wrong).unwrap_err().ends_with(&format!("not {wrong}")), "{wrong}");
        }
    }

    #[test]
    fn a_chance_is_between_never_and_always() {
        assert_eq!([loss("0"), loss("0.05"), loss("1")], [Ok(0.0), Ok(0.05), Ok(1.0)]);
        for wrong in ["", "5", "-0.1", "5%", "nan"] {
            assert!(loss(wrong).unwrap_err().ends_with(&format!("not {wrong}")), "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_in_bits() {
        assert_eq!([rate("20mbit"), rate("1kbit"), rate("2.5gbit")], [Ok(Some(2e7)), Ok(Some(1e3)), Ok(Some(2.5e9))]);
        assert_eq!(rate("none"), Ok(None));
        for wrong in ["", "0", "20", "0mbit", "0.9kbit", "-1mbit", "infmbit", "nanmbit", "20mb"] {
            assert!(rate(wrong).unwrap_err().ends_with(&format!("not {wrong}")), "{wrong}");
        }
    }

    #[test]
    fn one_value_is_for_both_directions_and_two_are_one_for_each() {
        let read = both(loss);
        let of = |text| read(text).map(|both| (both.of(Way::There), both.of(Way::Back)));
        assert_eq!(of("0.5"), Ok((0.5, 0.5)));
        assert_eq!(of("0,1"), Ok((0.0, 1.0)));
        for wrong in [",", "0,", ",1", "0,1,0", "0,2"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
