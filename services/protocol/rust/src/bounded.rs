//! Values within the bounds of their schema: a value outside of them can be neither decoded nor constructed.
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::ops::Deref;

/// The error of a value outside of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds;

impl fmt::Display for OutOfBounds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("is outside of the bounds of the protocol")
    }
}

impl std::error::Error for OutOfBounds {}

/// Implements the traits of a string within bounds: it dereferences to `&str`, and is constructed by `try_into` or `parse`.
macro_rules! text {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> TryFrom<String> for $name {
            type Error = $crate::bounded::OutOfBounds;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                if Self::fits(&text) { Ok(Self(text)) } else { Err($crate::bounded::OutOfBounds) }
            }
        }

        impl<$($generics)*> std::str::FromStr for $name {
            type Err = $crate::bounded::OutOfBounds;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.to_owned().try_into()
            }
        }

        impl<$($generics)*> From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl<$($generics)*> std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<$($generics)*> std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<$($generics)*> std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

/// A string that matches a pattern and has at most `$max` bytes.
macro_rules! pattern {
    ($(#[$about:meta])* $name:ident, $pattern:literal, $max:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            fn fits(text: &str) -> bool {
                static PATTERN: std::sync::LazyLock<Option<regex::Regex>> =
                    std::sync::LazyLock::new(|| regex::Regex::new($pattern).ok());
                // The cheapest test first: a long text is not searched.
                text.len() <= $max && PATTERN.as_ref().is_some_and(|pattern| pattern.is_match(text))
            }
        }

        text!([] $name);
    };
}

/// A string of `MIN` to `MAX` characters (Unicode code points).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Text<const MIN: usize, const MAX: usize>(String);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    fn fits(text: &str) -> bool {
        (MIN..=MAX).contains(&text.chars().count())
    }
}

text!([const MIN: usize, const MAX: usize] Text<MIN, MAX>);

/// An integer of `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> TryFrom<u64> for Whole<MIN, MAX> {
    type Error = OutOfBounds;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        if (MIN..=MAX).contains(&number) { Ok(Self(number)) } else { Err(OutOfBounds) }
    }
}

impl<const MIN: u64, const MAX: u64> From<Whole<MIN, MAX>> for u64 {
    fn from(number: Whole<MIN, MAX>) -> Self {
        number.0
    }
}

/// A list of `MIN` to `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> TryFrom<Vec<T>> for List<T, MIN, MAX> {
    type Error = OutOfBounds;

    fn try_from(items: Vec<T>) -> Result<Self, Self::Error> {
        if (MIN..=MAX).contains(&items.len()) { Ok(Self(items)) } else { Err(OutOfBounds) }
    }
}

impl<'de, T: Deserialize<'de>, const MIN: usize, const MAX: usize> Deserialize<'de> for List<T, MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
    }
}

impl<T, const MAX: usize> Default for List<T, 0, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const MIN: usize, const MAX: usize> IntoIterator for List<T, MIN, MAX> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Deserializes an optional field that must not be null.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}
