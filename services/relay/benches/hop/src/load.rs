//! The load of a measurement and its report.
use anyhow::Context;
use bytes::Bytes;
use parley_net::ws::{Batch, Kind};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep_until};

/// Topics, each with a number of messages a second.
#[derive(Clone, Copy)]
pub struct Load {
    pub topics: u32,
    pub per_second: u32,
    pub bytes: u32,
    pub seconds: u32,
}

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Report {
    pub messages: u32,
    /// Seconds of processor time.
    pub cpu: f64,
    /// Milliseconds.
    pub p50: f64,
    pub p99: f64,
}

impl Load {
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [topics, per_second, bytes, seconds] = numbers[..] else { anyhow::bail!("not a load: {text}") };
        Ok(Self { topics, per_second, bytes, seconds })
    }

    pub fn text(&self) -> String {
        format!("{},{},{},{}", self.topics, self.per_second, self.bytes, self.seconds)
    }

    pub fn messages(&self) -> u32 {
        self.topics * self.per_second * self.seconds
    }

    /// Sends the messages of each topic at even intervals, framed as a relay frames them.
    pub async fn send(&self, mut send: impl AsyncFnMut(u32, Batch) -> anyhow::Result<()>) -> anyhow::Result<Report> {
        let mut payload = vec![7; self.bytes as usize];
        let began = Instant::now();
        for number in 0..self.messages() {
            let due = Duration::from_secs(1) * number / (self.topics * self.per_second);
            if began.elapsed() < due {
                sleep_until(began + due).await;
            }
            payload[..8].copy_from_slice(&now().to_be_bytes());
            send(number % self.topics, Batch::message(Kind::Binary, &payload)).await?;
        }
        Ok(Report { messages: self.messages(), cpu: cpu("self")?, p50: 0.0, p99: 0.0 })
    }
}

/// The ages of the received messages.
#[derive(Default)]
pub struct Ages(Vec<u64>);

impl Ages {
    /// Counts one framed message.
    pub fn take(&mut self, frame: &Bytes) {
        let header = frame.len() - parley_net::ws::frame::payload_of(frame.len());
        let stamp = frame[header..].first_chunk().copied().map_or(0, u64::from_be_bytes);
        self.0.push(now().saturating_sub(stamp));
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn report(mut self) -> anyhow::Result<Report> {
        self.0.sort_unstable();
        let at = |part: usize| self.0.get(self.0.len() * part / 100).map_or(0.0, |age| *age as f64 / 1e6);
        Ok(Report { messages: self.0.len() as u32, cpu: cpu("self")?, p50: at(50), p99: at(99) })
    }
}

/// Returns nanoseconds of a clock that both processes share.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Returns the processor time of a process in seconds, from ticks of 10 ms.
pub fn cpu(process: &str) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit_once(") ").context("no stat")?.1.split(' ').collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}
