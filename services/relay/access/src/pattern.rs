//! The patterns by which a token names topics. Rule STR-105.

/// Whether this is a valid pattern: segments between slashes, each a name, `*` or, at the end, `**`. A star within a name is invalid: a
/// reader would mistake it for a wildcard.
pub fn is_valid(pattern: &str) -> bool {
    let last = pattern.split('/').count() - 1;
    pattern.split('/').enumerate().all(|(at, segment)| match segment {
        "" => false,
        "*" => true,
        "**" => at == last,
        name => !name.contains('*'),
    })
}

/// Whether a valid pattern matches the name of a topic. `*` is any one segment, `**` one or more. Linear in the number of segments.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), name.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) | (Some("**"), Some(_)) => return true,
            (Some("*"), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn str_105_a_star_is_one_segment_and_two_are_the_rest() {
        for (pattern, name, expected) in [
            ("lab/7/video", "lab/7/video", true),
            ("lab/7/video", "lab/7", false),
            ("lab/7", "lab/7/video", false),
            ("lab/*/video", "lab/7/video", true),
            ("lab/*/video", "lab/7/8/video", false),
            ("lab/*", "lab", false),
            ("lab/**", "lab/7/video", true),
            ("lab/**", "lab/7", true),
            ("lab/**", "lab", false),
            ("lab/**", "labs/7", false),
            ("*/**", "a/b/c", true),
            ("*/**", "a", false),
            ("*", "a", true),
            ("**", "a/b", true),
            ("Lab", "lab", false),
            ("a", "*", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn str_105_a_misleading_pattern_is_invalid() {
        for bad in ["", "/", "/lab", "lab/", "a//b", "**/a", "a/**/b", "lab*", "a/*b", "***", "a/**c"] {
            assert!(!is_valid(bad), "{bad}");
        }
        for good in ["a", "*", "**", "*/*", "a/*/b/**", "a b/ü"] {
            assert!(is_valid(good), "{good}");
        }
    }

    /// The same by exhaustive search: `**` matches one segment, and then continues or ends.
    fn naive(pattern: &[&str], name: &[&str]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (["**", rest @ ..], [_, others @ ..]) => naive(pattern, others) || naive(rest, others),
            (["*", rest @ ..], [_, others @ ..]) => naive(rest, others),
            ([one, rest @ ..], [other, others @ ..]) => one == other && naive(rest, others),
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(20_000))]

        #[test]
        fn str_105_matching_agrees_with_exhaustive_search(pattern in "(a|b|\\*)(/(a|b|\\*)){0,4}(/\\*\\*)?", name in "[ab*](/[ab*]){0,5}") {
            let (wanted, given): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), name.split('/').collect());
            assert!(is_valid(&pattern));
            prop_assert_eq!(matches(&pattern, &name), naive(&wanted, &given), "{} {}", pattern, name);
        }

        #[test]
        fn str_105_any_text_is_handled(pattern in any::<String>(), name in any::<String>()) {
            let _ = (is_valid(&pattern), matches(&pattern, &name));
            assert!(!is_valid(&name) || name.contains('*') || matches(&name, &name));
        }
    }
}
