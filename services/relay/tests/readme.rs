//! The tables of README.md match the code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_cluster::end::End;
use parley_net::codes::Code;
use parley_relay::limits::LIMITS;

/// Returns the text of a file, by its path in the directory of the package.
fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns the cells of all table rows of the README, without padding.
fn rows() -> Vec<Vec<String>> {
    let text = read("README.md");
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

/// Returns the meaning of a code: the comment on its variant in the table of the protocol.
fn meaning(table: &str, code: Code) -> String {
    let variant = format!("{code:?},");
    let lines = table.lines().map(str::trim);
    let (comment, _) = lines.clone().zip(lines.skip(1)).find(|(_, next)| *next == variant).unwrap();
    comment.strip_prefix("/// ").unwrap().replace('`', "")
}

#[test]
fn every_code_is_in_the_readme_with_its_meaning() {
    let (rows, table) = (rows(), read("../protocol/rust/src/generated/relay_codes.rs"));
    for code in Code::ALL {
        let (http, close) = (code.http().to_string(), code.close().to_string());
        let expected = vec![code.name().to_owned(), http, close, meaning(&table, code)];
        assert!(rows.contains(&expected), "| {} |", expected.join(" | "));
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
