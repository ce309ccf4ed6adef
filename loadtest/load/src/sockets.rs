//! `parley load sockets`: many that are only there, or many that come and go, and what the server keeps of them.
use super::output::Output;
use super::process;
use super::socket_pool::Herd;
use super::target::Target;
use crate::exit::Exit;
use anyhow::ensure;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Opens sockets and looks at the server's memory before, with and after them.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// The server: ws://HOST:PORT, and a prefix of all paths where there is one
    #[arg(long, value_name = "URL")]
    url: String,
    /// Sockets that are open at once, and quiet
    #[arg(long, default_value_t = 10_000, conflicts_with = "churn")]
    count: usize,
    /// How long they stay
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    hold: f64,
    /// Instead: so many connections one after the other, publishers and readers on topics of chance
    #[arg(long, value_name = "CONNECTIONS")]
    churn: Option<usize>,
    /// How many of them come each second
    #[arg(long, default_value_t = 2000.0, value_name = "RATE")]
    per_second: f64,
    /// How long each of them stays at most
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    stay: f64,
    /// Topics they are spread over
    #[arg(long, default_value_t = 500)]
    topics: usize,
    /// What the names of topics begin with
    #[arg(long, default_value = "load")]
    name: String,
    /// A line to add to each upgrade, such as "Authorization: Bearer ..."; may be given again
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Processes of the server, by commas, for their memory
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,
    /// Where chance begins
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    opened: u64,
    /// Handshakes that failed, by what was said.
    errors: BTreeMap<String, u64>,
    /// Sockets that the server ended.
    closed: u64,
    /// The most that were open at once.
    most_at_once: usize,
    sent: u64,
    heard: u64,
    seconds: f64,
    /// The server's memory, in kB.
    memory: Option<Memory>,
    /// Of those that were only there.
    kb_each: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    before_kb: u64,
    /// With the most sockets that were open at once.
    with_kb: u64,
    after_kb: u64,
}

/// What a server may take to forget sockets that are gone.
const FORGETTING: Duration = Duration::from_secs(3);
const TURN: Duration = Duration::from_millis(1);
/// Between two looks at the server's memory while connections come and go.
const LOOK: Duration = Duration::from_millis(500);
/// What each publisher sends.
const MESSAGES: usize = 3;
const MESSAGE: [u8; 200] = [b'x'; 200];

impl Flags {
    /// Opens them; fails where one was refused or ended by the server.
    pub fn run(self) -> anyhow::Result<Exit> {
        ensure!(self.topics > 0, "--topics must be at least 1");
        ensure!(self.per_second > 0.0 && self.per_second.is_finite(), "--per-second must be above 0");
        for (flag, seconds) in [("hold", self.hold), ("stay", self.stay)] {
            ensure!((0.0..=86_400.0).contains(&seconds), "--{flag} must be 0 to 86400");
        }
        let target = Target::new(&self.url, &self.headers)?;
        let (began, before) = (Instant::now(), self.memory()?);
        let mut herd = Herd::new(&target)?;
        let mut report = Report::default();
        let with = match self.churn {
            None => self.idle(&mut herd, &mut report)?,
            Some(connections) => self.churn(&mut herd, &mut report, connections)?,
        };
        (report.closed, report.heard) = (herd.closed, herd.heard);
        report.seconds = began.elapsed().as_secs_f64();
        drop(herd);
        if !self.pids.is_empty() {
            std::thread::sleep(FORGETTING);
            report.add(Memory { before_kb: before, with_kb: with, after_kb: self.memory()? }, self.churn.is_none());
        }
        self.output.say(&report.table());
        self.output.write(&report)?;
        let clean = report.errors.is_empty() && report.closed == 0;
        Ok(Exit::of(clean, false))
    }

    fn idle(&self, herd: &mut Herd<'_>, report: &mut Report) -> anyhow::Result<u64> {
        for number in 0..self.count {
            report.open(herd, &format!("/out/{}/{}", self.name, number % self.topics));
        }
        let end = Instant::now() + Duration::from_secs_f64(self.hold);
        while Instant::now() < end {
            herd.turn(TURN)?;
        }
        report.most_at_once = herd.count();
        self.memory()
    }

    /// Half of them publish.
    fn churn(&self, herd: &mut Herd<'_>, report: &mut Report, connections: usize) -> anyhow::Result<u64> {
        let mut chance = fastrand::Rng::with_seed(self.seed);
        let (began, mut tried, mut leaving) = (Instant::now(), 0, BinaryHeap::new());
        let (mut look, mut most) = (began + LOOK, 0);
        while tried < connections || !leaving.is_empty() {
            let due = began.elapsed().as_secs_f64() * self.per_second;
            #[allow(clippy::cast_precision_loss, reason = "a count of connections")]
            while tried < connections && (tried as f64) < due {
                // Those whose time is over leave first: whoever is behind must not have more at once.
                let_go(herd, &mut leaving, &mut chance);
                tried += 1;
                let publishes = chance.bool();
                let end = if publishes { "in" } else { "out" };
                let path = format!("/{end}/{}/{}", self.name, chance.usize(..self.topics));
                let Some(index) = report.open(herd, &path) else { continue };
                for _ in 0..if publishes { MESSAGES } else { 0 } {
                    herd.say(index, &MESSAGE);
                    report.sent += 1;
                }
                let stay = Duration::from_secs_f64(self.stay * chance.f64());
                leaving.push(Reverse((Instant::now() + stay, index)));
                report.most_at_once = report.most_at_once.max(herd.count());
            }
            let_go(herd, &mut leaving, &mut chance);
            herd.turn(TURN)?;
            let now = Instant::now();
            if now >= look {
                (look, most) = (now + LOOK, most.max(self.memory()?));
            }
        }
        Ok(most)
    }

    fn memory(&self) -> anyhow::Result<u64> {
        self.pids.iter().map(|pid| process::memory(*pid).map(|memory| memory.resident_kb)).sum()
    }
}

/// Half of those who leave do so with a close frame.
fn let_go(herd: &mut Herd<'_>, leaving: &mut BinaryHeap<Reverse<(Instant, usize)>>, chance: &mut fastrand::Rng) {
    let now = Instant::now();
    while let Some(Reverse((when, index))) = leaving.peek().copied()
        && when <= now
    {
        leaving.pop();
        herd.leave(index, chance.bool());
    }
}

impl Report {
    fn open(&mut self, herd: &mut Herd<'_>, path: &str) -> Option<usize> {
        match herd.open(path) {
            Ok(index) => {
                self.opened += 1;
                Some(index)
            }
            Err(why) => {
                *self.errors.entry(why.root_cause().to_string()).or_default() += 1;
                None
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "for people")]
    fn add(&mut self, memory: Memory, idle: bool) {
        let grown = memory.with_kb.saturating_sub(memory.before_kb) as f64;
        self.kb_each = (idle && self.most_at_once > 0).then(|| grown / self.most_at_once as f64);
        self.memory = Some(memory);
    }

    fn table(&self) -> String {
        let Report { opened, closed, most_at_once, sent, heard, seconds, .. } = self;
        let mut out = format!(
            "sockets      {opened} opened in {seconds:.1} s, at most {most_at_once} at once, {closed} closed by the server\n\
             messages     {sent} sent, {heard} heard\n"
        );
        for (why, times) in &self.errors {
            let _ = writeln!(out, "failed       {times} times: {why}");
        }
        if let Some(Memory { before_kb, with_kb, after_kb }) = self.memory {
            let _ = write!(out, "memory       {before_kb} kB before, {with_kb} kB with them, {after_kb} kB after");
            let _ = writeln!(out, "{}", self.kb_each.map_or(String::new(), |each| format!("; {each:.2} kB each")));
        }
        out
    }
}
