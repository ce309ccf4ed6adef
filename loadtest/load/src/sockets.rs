//! `parley-load sockets`: many idle sockets, or many that open and close, and the memory that the server uses for them.
use crate::output::Output;
use crate::process;
use crate::socket_pool::SocketPool;
use crate::target::Target;
use anyhow::ensure;
use parley_cli::Exit;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Opens idle sockets, or opens and closes many, and reports the server's memory before, with and after them.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// The server: ws://HOST:PORT, and where needed a prefix of all paths
    #[arg(long, value_name = "URL")]
    url: String,
    /// How many idle sockets to open
    #[arg(long, default_value_t = 10_000, conflicts_with = "churn")]
    count: usize,
    /// How long the idle sockets stay open
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    hold: f64,
    /// Instead: how many connections to open and close; half of them publish, on random topics
    #[arg(long, value_name = "CONNECTIONS")]
    churn: Option<usize>,
    /// With --churn: how many connections to open per second
    #[arg(long, default_value_t = 2000.0, value_name = "RATE")]
    per_second: f64,
    /// With --churn: the longest time that a connection stays open
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    stay: f64,
    /// How many topics the sockets are spread over
    #[arg(long, default_value_t = 500)]
    topics: usize,
    /// The first part of the names of topics
    #[arg(long, default_value = "load")]
    name: String,
    /// A header to add to each handshake, such as "Authorization: Bearer ..."; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Processes of the server, separated by commas, whose memory to report
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,
    /// The seed of the random numbers of --churn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    opened: u64,
    /// Handshakes that failed, by their error.
    errors: BTreeMap<String, u64>,
    /// Sockets that the server closed.
    closed: u64,
    /// The highest number of sockets open at once.
    most_at_once: usize,
    sent: u64,
    received: u64,
    seconds: f64,
    /// The server's memory.
    memory: Option<Memory>,
    /// For each idle socket.
    kb_each: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    before_kb: u64,
    /// With the idle sockets open, or the highest sample while connections open and close.
    with_kb: u64,
    after_kb: u64,
}

/// How long a server may take to release the memory of closed sockets.
const RELEASE_TIME: Duration = Duration::from_secs(3);
/// The longest wait of one poll.
const POLL_TIMEOUT: Duration = Duration::from_millis(1);
/// The time between two samples of the server's memory while connections open and close.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);
/// How many messages each publisher sends.
const MESSAGES: usize = 3;
const MESSAGE: [u8; 200] = [b'x'; 200];

impl Flags {
    /// Runs the load. Not exact where the server refused or closed a socket.
    pub fn run(self) -> anyhow::Result<Exit> {
        ensure!(self.topics > 0, "--topics must be at least 1");
        ensure!(self.per_second > 0.0 && self.per_second.is_finite(), "--per-second must be above 0");
        for (flag, seconds) in [("hold", self.hold), ("stay", self.stay)] {
            ensure!((0.0..=86_400.0).contains(&seconds), "--{flag} must be 0 to 86400");
        }
        let target = Target::new(&self.url, &self.headers)?;
        let (began, before) = (Instant::now(), self.memory()?);
        let mut pool = SocketPool::new(&target)?;
        let mut report = Report::default();
        let with = match self.churn {
            None => self.idle(&mut pool, &mut report)?,
            Some(connections) => self.churn(&mut pool, &mut report, connections)?,
        };
        (report.closed, report.received) = (pool.closed, pool.received);
        report.seconds = began.elapsed().as_secs_f64();
        drop(pool);
        if !self.pids.is_empty() {
            std::thread::sleep(RELEASE_TIME);
            report.add(Memory { before_kb: before, with_kb: with, after_kb: self.memory()? }, self.churn.is_none());
        }
        self.output.report(&report.table(), &report)?;
        let clean = report.errors.is_empty() && report.closed == 0;
        Ok(Exit::of_load(clean, false))
    }

    fn idle(&self, pool: &mut SocketPool<'_>, report: &mut Report) -> anyhow::Result<u64> {
        for number in 0..self.count {
            report.open(pool, &format!("/out/{}/{}", self.name, number % self.topics));
        }
        let end = Instant::now() + Duration::from_secs_f64(self.hold);
        while Instant::now() < end {
            pool.poll(POLL_TIMEOUT)?;
        }
        report.most_at_once = pool.count();
        self.memory()
    }

    /// Opens and closes connections. Returns the highest sample of the server's memory.
    fn churn(&self, pool: &mut SocketPool<'_>, report: &mut Report, connections: usize) -> anyhow::Result<u64> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        let (began, mut tried, mut open_until) = (Instant::now(), 0, BinaryHeap::new());
        let (mut next_sample, mut highest) = (began + SAMPLE_INTERVAL, 0);
        while tried < connections || !open_until.is_empty() {
            let due = began.elapsed().as_secs_f64() * self.per_second;
            #[allow(clippy::cast_precision_loss, reason = "a count of connections fits")]
            while tried < connections && (tried as f64) < due {
                // Connections whose time is over close first: a generator that is late must not have more open at once.
                close_expired(pool, &mut open_until, &mut random);
                tried += 1;
                let publishes = random.bool();
                let end = if publishes { "in" } else { "out" };
                let path = format!("/{end}/{}/{}", self.name, random.usize(..self.topics));
                let Some(index) = report.open(pool, &path) else { continue };
                for _ in 0..if publishes { MESSAGES } else { 0 } {
                    pool.send(index, &MESSAGE);
                    report.sent += 1;
                }
                let stay = Duration::from_secs_f64(self.stay * random.f64());
                open_until.push(Reverse((Instant::now() + stay, index)));
                report.most_at_once = report.most_at_once.max(pool.count());
            }
            close_expired(pool, &mut open_until, &mut random);
            pool.poll(POLL_TIMEOUT)?;
            let now = Instant::now();
            if now >= next_sample {
                (next_sample, highest) = (now + SAMPLE_INTERVAL, highest.max(self.memory()?));
            }
        }
        Ok(highest)
    }

    fn memory(&self) -> anyhow::Result<u64> {
        process::total_resident_kb(&self.pids)
    }
}

/// Closes the connections whose time is over, half of them with a close frame.
fn close_expired(
    pool: &mut SocketPool<'_>,
    open_until: &mut BinaryHeap<Reverse<(Instant, usize)>>,
    random: &mut fastrand::Rng,
) {
    let now = Instant::now();
    while let Some(Reverse((when, index))) = open_until.peek().copied()
        && when <= now
    {
        open_until.pop();
        pool.close(index, random.bool());
    }
}

impl Report {
    fn open(&mut self, pool: &mut SocketPool<'_>, path: &str) -> Option<usize> {
        match pool.open(path) {
            Ok(index) => {
                self.opened += 1;
                Some(index)
            }
            Err(error) => {
                *self.errors.entry(error.root_cause().to_string()).or_default() += 1;
                None
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    fn add(&mut self, memory: Memory, idle: bool) {
        let grown = memory.with_kb.saturating_sub(memory.before_kb) as f64;
        self.kb_each = (idle && self.most_at_once > 0).then(|| grown / self.most_at_once as f64);
        self.memory = Some(memory);
    }

    fn table(&self) -> String {
        let Report { opened, closed, most_at_once, sent, received, seconds, .. } = self;
        let mut out = format!(
            "sockets      {opened} opened in {seconds:.1} s, at most {most_at_once} at once, {closed} closed by the server\n\
             messages     {sent} sent, {received} received\n"
        );
        for (error, times) in &self.errors {
            let _ = writeln!(out, "failed       {times} times: {error}");
        }
        if let Some(Memory { before_kb, with_kb, after_kb }) = self.memory {
            let _ = write!(out, "memory       {before_kb} kB before, {with_kb} kB with them, {after_kb} kB after");
            let _ = writeln!(out, "{}", self.kb_each.map_or(String::new(), |each| format!("; {each:.2} kB each")));
        }
        out
    }
}
