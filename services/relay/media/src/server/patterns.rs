//! Translates the patterns of tokens (STR-105) to those of MoQ (MED-12).
//!
//! `**` of a token matches one or more segments, that of MoQ zero or more. Tokens have no stars within a segment, MoQ has.
use anyhow::{Context, Result, ensure};
use moq_net::{Pattern, Patterns};

/// Returns the scope that matches exactly what `patterns` match.
pub(crate) fn scope(patterns: &[String]) -> Result<Patterns> {
    let mut scope = Patterns::new();
    for pattern in patterns {
        scope.insert(translated(pattern).with_context(|| format!("`{pattern}` is not a pattern"))?);
    }
    Ok(scope)
}

fn translated(pattern: &str) -> Result<Pattern> {
    let (head, last) = match pattern.rsplit_once('/') {
        Some((head, last)) => (Some(head), last),
        None => (None, pattern),
    };
    for segment in head.iter().flat_map(|head| head.split('/')) {
        ensure!(segment != "**", "`**` must be the last segment");
        check(segment)?;
    }
    check(last)?;
    let text = if last == "**" { format!("{}*/**", prefix(head)) } else { pattern.to_owned() };
    Ok(text.parse()?)
}

fn check(segment: &str) -> Result<()> {
    ensure!(!segment.is_empty(), "a segment is empty");
    ensure!(matches!(segment, "*" | "**") || !segment.contains('*'), "a star must be a whole segment");
    Ok(())
}

fn prefix(head: Option<&str>) -> String {
    head.map(|head| format!("{head}/")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(pattern: &str, name: &str) -> bool {
        scope(&[pattern.to_owned()]).unwrap().matches(name)
    }

    #[test]
    fn med_12_one_star_matches_one_segment_and_two_match_one_or_more() {
        for (pattern, name, allowed) in [
            ("lab/7", "lab/7", true),
            ("lab/7", "lab/7/video", false),
            ("lab/7", "lab", false),
            ("lab/*", "lab/7", true),
            ("lab/*", "lab", false),
            ("lab/*", "lab/7/video", false),
            ("lab/*/video", "lab/7/video", true),
            ("lab/*/video", "lab/video", false),
            ("lab/*/video", "lab/7/8/video", false),
            ("lab/**", "lab/7", true),
            ("lab/**", "lab/7/video/hd", true),
            ("lab/**", "lab", false),
            ("lab/**", "laboratory/7", false),
            ("lab/*/**", "lab/7", false),
            ("lab/*/**", "lab/7/8", true),
            ("**", "lab", true),
            ("**", "lab/7", true),
            ("**", "", false),
            ("*", "lab", true),
            ("*", "lab/7", false),
            ("*", "", false),
        ] {
            assert_eq!(allows(pattern, name), allowed, "{pattern} {name}");
        }
    }

    #[test]
    fn med_12_an_invalid_pattern_of_a_token_is_refused() {
        for pattern in ["", "/", "/lab", "lab/", "lab//7", "l*b", "lab/7*", "**/7", "lab/**/7", "***"] {
            assert!(scope(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
    }

    #[test]
    fn med_12_an_empty_list_matches_nothing() {
        assert!(scope(&[]).unwrap().is_empty());
    }
}
