//! What one direction does to packets, and the lines that change it.
use crate::values::{Both, Way, both, loss, rate, time};
use std::str::FromStr;
use std::time::Duration;

/// What one direction does to packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub delay: Duration,
    /// By how much that is more or less.
    pub jitter: Duration,
    /// How likely a packet is lost, 0 to 1.
    pub loss: f64,
    /// In bits a second.
    pub rate: Option<f64>,
    /// Whether anything gets in; what is under way arrives.
    pub up: bool,
}

/// A line that changes a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    Delay(Both<Duration>),
    Jitter(Both<Duration>),
    Loss(Both<f64>),
    Rate(Both<Option<f64>>),
    Up(bool),
}

impl Settings {
    pub fn apply(&mut self, change: Change, way: Way) {
        match change {
            Change::Delay(delay) => self.delay = delay.of(way),
            Change::Jitter(jitter) => self.jitter = jitter.of(way),
            Change::Loss(loss) => self.loss = loss.of(way),
            Change::Rate(rate) => self.rate = rate.of(way),
            Change::Up(up) => self.up = up,
        }
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["delay", value] => both(time)(value).map(Change::Delay),
            ["jitter", value] => both(time)(value).map(Change::Jitter),
            ["loss", value] => both(loss)(value).map(Change::Loss),
            ["rate", value] => both(rate)(value).map(Change::Rate),
            ["down"] => Ok(Change::Up(false)),
            ["up"] => Ok(Change::Up(true)),
            _ => Err(format!(
                "a line is `delay TIME`, `jitter TIME`, `loss CHANCE`, `rate RATE`, `down` or `up`: {line}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(line: &str, way: Way) -> Settings {
        let mut settings =
            Settings { delay: Duration::ZERO, jitter: Duration::ZERO, loss: 0.5, rate: Some(1e6), up: true };
        settings.apply(line.parse().unwrap(), way);
        settings
    }

    #[test]
    fn a_line_changes_what_it_names_and_nothing_else() {
        let same = changed("up", Way::There);
        let changes = [
            ("delay 80ms", Settings { delay: Duration::from_millis(80), ..same }),
            ("jitter 2ms", Settings { jitter: Duration::from_millis(2), ..same }),
            ("loss 0", Settings { loss: 0.0, ..same }),
            ("rate none", Settings { rate: None, ..same }),
            ("down", Settings { up: false, ..same }),
        ];
        for (line, expected) in changes {
            assert_eq!(changed(line, Way::There), expected, "{line}");
        }
    }

    #[test]
    fn two_values_are_one_for_each_direction() {
        let loss = |way| changed("loss 0.1,0.2", way).loss;
        assert_eq!([loss(Way::There), loss(Way::Back)], [0.1, 0.2]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["", "delay", "delay 80", "loss 2", "rate 0", "up 1", "faster", "delay 1ms 2ms"] {
            assert!(line.parse::<Change>().is_err(), "{line}");
        }
    }
}
