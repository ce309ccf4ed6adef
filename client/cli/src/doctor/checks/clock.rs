//! Its clock is right.
use super::health::ask;
use crate::doctor::report::{Finding, Looked, rounded};
use crate::doctor::site::Site;
use std::time::{Duration, SystemTime};

/// Half of what is too much.
const WARN: f64 = 2.5;
/// Tokens bear no more (KEY-4).
const FAIL: f64 = 5.0;
/// `Date` tells whole seconds (RFC 9110 section 5.6.7).
const HALF_A_SECOND: Duration = Duration::from_millis(500);
const ADVICE: &str = "Have NTP set the clocks of all nodes, and of this machine: tokens of somebody who is more than 5 s off \
                      are refused, and their certificates count by the wrong day.";

/// Compares it with this machine's.
pub async fn look(site: &Site) -> Looked {
    let answer = ask(site).await?;
    let date = answer.date.as_deref().and_then(|date| httpdate::parse_http_date(date).ok()).ok_or_else(|| {
        Finding::fail("the host does not say what time it is", "See what answers there: Parley's edge sends Date.")
    })?;
    Ok(vec![judge(ahead(date, answer.asked, answer.took))])
}

/// By how many seconds the host is ahead, as it seems: what it said is half a second ago on average, as is half of the way.
fn ahead(date: SystemTime, asked: SystemTime, took: Duration) -> f64 {
    let (theirs, ours) = (date + HALF_A_SECOND, asked + took / 2);
    match theirs.duration_since(ours) {
        Ok(ahead) => ahead.as_secs_f64(),
        Err(behind) => -behind.duration().as_secs_f64(),
    }
}

fn judge(ahead: f64) -> Finding {
    let said = match ahead.abs() {
        seconds if seconds <= 1.0 => "the clocks differ by less than a second".into(),
        seconds => {
            format!("the host's clock is {seconds:.1} s {} of this one", if ahead > 0.0 { "ahead" } else { "behind" })
        }
    };
    let finding = match ahead.abs() {
        seconds if seconds > FAIL => Finding::fail(said, ADVICE),
        seconds if seconds > WARN => Finding::warn(said, ADVICE),
        _ => Finding::ok(said),
    };
    finding.figure("aheadSeconds", rounded(ahead, 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_4_clocks_may_differ_by_five_seconds() {
        let asked = SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_000_400);
        let whole = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert!(ahead(whole, asked, Duration::from_millis(200)).abs() < 1e-6);
        assert!((ahead(whole - Duration::from_secs(7), asked, Duration::from_millis(200)) + 7.0).abs() < 1e-6);
        for (off, verdict) in
            [(0.9, "ok"), (-2.0, "ok"), (3.0, "warn"), (-4.9, "warn"), (5.1, "fail"), (-900.0, "fail")]
        {
            let json = serde_json::to_value(judge(off)).unwrap();
            assert_eq!(json["verdict"], verdict, "{json}");
        }
    }
}
