//! The tables of README.md match the code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_cluster::end::End;
use parley_net::codes::Code;
use parley_relay::limits::LIMITS;

/// Returns the cells of all table rows of the README, without padding.
fn rows() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    text.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

fn code(code: Option<Code>) -> String {
    code.map_or(String::new(), |code| code.name().to_owned())
}

#[test]
fn str_82_every_limit_is_in_the_readme() {
    let rows = rows();
    for row in LIMITS {
        let (value, range) = (row.value.to_string(), format!("{} to {}", row.min, row.max));
        let expected = vec![row.name.into(), value, range, row.unit.into(), code(row.code), row.reason.into()];
        assert!(rows.contains(&expected), "| {} |", expected.join(" | "));
    }
}

#[test]
fn every_code_is_in_the_readme() {
    let rows = rows();
    for code in Code::ALL {
        let start = vec![code.name().to_owned(), code.http().to_string(), code.close().to_string()];
        assert!(rows.iter().any(|row| row.starts_with(&start)), "| {} |", start.join(" | "));
    }
}

#[test]
fn str_98_each_end_of_a_link_is_in_the_readme() {
    let rows = rows();
    for end in End::ALL {
        assert!(rows.iter().any(|row| row.len() == 2 && row[0] == end.name()), "{}", end.name());
    }
}

#[cfg(feature = "media")]
#[test]
fn med_13_each_close_code_of_media_is_in_the_readme() {
    let rows = rows();
    for (code, number) in parley_media::server::NUMBERS {
        let start = vec![code.to_owned(), number.to_string()];
        assert!(rows.iter().any(|row| row.len() == 3 && row.starts_with(&start)), "| {code} | {number} |");
    }
}
