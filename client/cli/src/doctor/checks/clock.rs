//! The clock of the host is right.
use super::health::request;
use crate::doctor::report::{CheckResult, Finding, rounded};
use crate::doctor::site::Site;
use std::time::{Duration, SystemTime};

/// Half of the limit.
const WARN: f64 = 2.5;
/// The largest difference that tokens allow (KEY-4).
const FAIL: f64 = 5.0;
/// `Date` has a resolution of one second (RFC 9110 section 5.6.7), so it is half a second old on average.
const HALF_A_SECOND: Duration = Duration::from_millis(500);
const ADVICE: &str = "Use NTP on all nodes and on this machine: tokens are refused if the clocks differ by more than 5 s, \
                      and the validity of certificates is misjudged.";

/// Compares the clock of the host with that of this machine.
pub async fn check(site: &Site) -> CheckResult {
    Ok(vec![assess(measure(site).await?, "of this one")])
}

/// Compares the clocks of two hosts.
pub async fn compare(one: &Site, other: &Site) -> CheckResult {
    let (first, second) = (measure(one).await?, measure(other).await?);
    Ok(vec![assess(first - second, "of the other's")])
}

/// By how many seconds the clock of the host is ahead of that of this machine.
async fn measure(site: &Site) -> Result<f64, Finding> {
    let answer = request(site).await?;
    let date = answer.date.as_deref().and_then(|date| httpdate::parse_http_date(date).ok()).ok_or_else(|| {
        Finding::fail(
            "the answer of the host has no Date",
            "Check which server answers: the edge of Parley sends Date.",
        )
    })?;
    Ok(ahead(date, answer.requested_at, answer.took))
}

/// By how many seconds the clock of the host is ahead. The answer is assumed to be written half way between request and response.
fn ahead(date: SystemTime, requested_at: SystemTime, took: Duration) -> f64 {
    let (remote, local) = (date + HALF_A_SECOND, requested_at + took / 2);
    match remote.duration_since(local) {
        Ok(ahead) => ahead.as_secs_f64(),
        Err(behind) => -behind.duration().as_secs_f64(),
    }
}

fn assess(ahead: f64, of: &str) -> Finding {
    let text = match ahead.abs() {
        seconds if seconds <= 1.0 => "the clocks differ by less than a second".into(),
        seconds => {
            format!("the host's clock is {seconds:.1} s {} {of}", if ahead > 0.0 { "ahead" } else { "behind" })
        }
    };
    let finding = match ahead.abs() {
        seconds if seconds > FAIL => Finding::fail(text, ADVICE),
        seconds if seconds > WARN => Finding::warn(text, ADVICE),
        _ => Finding::ok(text),
    };
    finding.figure("aheadSeconds", rounded(ahead, 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_4_clocks_may_differ_by_five_seconds() {
        let requested_at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_000_400);
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert!(ahead(date, requested_at, Duration::from_millis(200)).abs() < 1e-6);
        assert!((ahead(date - Duration::from_secs(7), requested_at, Duration::from_millis(200)) + 7.0).abs() < 1e-6);
        for (off, verdict) in
            [(0.9, "ok"), (-2.0, "ok"), (3.0, "warn"), (-4.9, "warn"), (5.1, "fail"), (-900.0, "fail")]
        {
            let json = serde_json::to_value(assess(off, "of this one")).unwrap();
            assert_eq!(json["verdict"], verdict, "{json}");
        }
    }
}
