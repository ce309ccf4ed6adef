//! Everybody who takes part: sessions that publish, watch, or both.
use super::dial::Dialler;
use super::plan::{Plan, Role, shown};
use super::receiver::{Book, Counts};
use super::source::Source;
use super::tracks::{Stage, Watched, publish, watch};
use anyhow::Context;
use hdrhistogram::Histogram;
use moq_tokio::Connection;
use parking_lot::Mutex;
use parley_cli::media::Boxed;
use parley_cli::reach::Reach;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The one track of each broadcast.
const TRACK: &str = "media";
/// Between two sessions that are opened: a relay is to be measured, not its handshakes.
const JOIN_PACE: Duration = Duration::from_millis(10);

/// One of them.
pub struct Member {
    /// Where it is, and what it does.
    pub role: Role,
    /// Its session.
    pub connection: Connection,
    /// What it got.
    pub book: Arc<Mutex<Book>>,
    /// When it was dialled.
    dialled: u64,
}

/// All of them.
pub struct Cast {
    /// In the order of `Plan::roles`.
    pub members: Vec<Member>,
    /// What the names of this run's broadcasts begin with.
    run: String,
    stage: Arc<Stage>,
    /// What every publisher sends.
    source: Arc<Source>,
    dialler: Dialler,
    publishing: JoinSet<anyhow::Result<()>>,
    watching: JoinSet<Result<(), moq_net::Error>>,
    /// Broadcasts that were lost while they were sent, by their watchers.
    pub lost: u64,
}

impl Cast {
    /// Opens all sessions; publishers begin at once.
    pub async fn join(plan: &Plan, source: Source) -> anyhow::Result<Self> {
        let broadcasts = plan.shape.broadcasts();
        let mut cast = Self {
            members: Vec::new(),
            run: format!("{}/{:x}", plan.place.name, fastrand::u64(..)),
            stage: Arc::new(Stage::new(broadcasts, Duration::from_millis(plan.content.max_age))),
            source: Arc::new(source),
            dialler: Dialler::new(&plan.place.hashes, Reach::default()),
            publishing: JoinSet::new(),
            watching: JoinSet::new(),
            lost: 0,
        };
        let mut dialled = Vec::new();
        for role in plan.roles() {
            dialled.push(cast.dial(role, plan)?);
            tokio::time::sleep(JOIN_PACE).await;
        }
        for member in dialled {
            cast.members.push(member.await?);
        }
        Ok(cast)
    }

    /// Dials for one and has it do what it is here for; whoever awaits the answer knows that it is there.
    fn dial(&mut self, role: Role, plan: &Plan) -> anyhow::Result<Boxed<'static, anyhow::Result<Member>>> {
        let (stage, source, run) = (&self.stage, &self.source, &self.run);
        let name = |broadcast| format!("{run}-{broadcast}");
        let dialled = stage.now();
        let book = Book::new(&role.watches, plan.content.freeze.saturating_mul(1_000_000))?;
        let book = Arc::new(Mutex::new(book));
        let (mut out, mut into) = (None, None);
        if let Some(broadcast) = role.publishes {
            let origin = out.insert(moq_tokio::origin::spawn());
            let produced = origin.create_broadcast(name(broadcast).as_str())?;
            let track = produced.create_track(TRACK, None)?;
            produced.announce(Default::default())?;
            // Key frames of all publishers at one moment are more than any relay meets.
            let broadcasts = u32::try_from(plan.shape.broadcasts())?;
            let begin = Instant::now() + source.group() * u32::try_from(broadcast)? / broadcasts;
            let (stage, source, origin) = (stage.clone(), source.clone(), origin.clone());
            self.publishing.spawn(async move {
                let _held = (origin, produced);
                publish(&stage, &source, broadcast, &track, begin).await
            });
        }
        if !role.watches.is_empty() {
            let origin = into.insert(moq_tokio::origin::spawn()).consume();
            for (page, broadcast) in role.watches.iter().enumerate() {
                let (stage, origin, book) = (stage.clone(), origin.clone(), book.clone());
                let watched = Watched { broadcast: name(*broadcast), name: TRACK, index: *broadcast, priority: 0 };
                self.watching.spawn(async move { watch(&stage, &origin, &watched, &book, page).await });
            }
        }
        let opening = tokio::spawn(self.dialler.dial(role.relay.clone(), out.as_ref(), into)?);
        Ok(Box::pin(async move {
            let connection = opening.await.context("a session was not opened")??;
            Ok(Member { role, connection, book, dialled })
        }))
    }

    /// Fails where a session is over: a token is judged after the handshake (MED-13).
    pub async fn all_are_in(&self) -> anyhow::Result<()> {
        for Member { connection, role, .. } in self.members.iter().filter(|member| !member.connection.connected()) {
            connection.closed().await.with_context(|| format!("{} ended a session", shown(&role.relay)))?;
        }
        Ok(())
    }

    /// Everybody has a frame of each broadcast it watches.
    pub fn all_watch(&self) -> bool {
        self.watchers().all(|member| member.book.lock().began().is_some())
    }

    /// Those who watch.
    pub fn watchers(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| !member.role.watches.is_empty())
    }

    /// From dialling, or from when the first of its broadcasts began, to the first frame, in nanoseconds.
    pub fn first_frame(&self, member: &Member) -> Option<u64> {
        let published = member.role.watches.iter().map(|at| self.stage.began[*at].load(Ordering::Relaxed)).min()?;
        Some(member.book.lock().began()?.saturating_sub(published.max(member.dialled)))
    }

    /// Frames made so far.
    pub fn sent(&self) -> u64 {
        (0..self.stage.made.len()).map(|broadcast| self.stage.made(broadcast)).sum()
    }

    /// What all watchers got so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.watchers().for_each(|member| counts += member.book.lock().counts);
        counts
    }

    /// Frames that one of them should have, and those that never came.
    pub fn expected(&self, member: &Member) -> (u64, u64) {
        let book = member.book.lock();
        (book.expected(|broadcast| self.stage.made(broadcast)), book.missing(|broadcast| self.stage.made(broadcast)))
    }

    /// Latencies begin anew.
    pub fn measure(&self) {
        self.watchers().for_each(|member| member.book.lock().latency.reset());
    }

    /// Of all watchers since `measure`, in nanoseconds.
    pub fn latency(&self) -> anyhow::Result<Histogram<u64>> {
        let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
        for member in self.watchers() {
            all.add(&member.book.lock().latency)?;
        }
        Ok(all)
    }

    /// Publishers end; waits until everybody has everything, at most so long.
    pub async fn end(&mut self, most: Duration) {
        self.lost = self.ended_early();
        let now = self.stage.now();
        self.watchers().for_each(|member| member.book.lock().end(now));
        self.stage.ended.send_replace(true);
        let all = async { while self.watching.join_next().await.is_some() {} };
        let _late = tokio::time::timeout(most, all).await;
    }

    /// How many broadcasts and sessions ended before their time.
    fn ended_early(&mut self) -> u64 {
        let mut lost = self.members.iter().filter(|member| !member.connection.connected()).count() as u64;
        while self.watching.try_join_next().is_some() || self.publishing.try_join_next().is_some() {
            lost += 1;
        }
        lost
    }

    /// Closes all sessions.
    pub async fn leave(self) {
        drop((self.publishing, self.watching));
        drop(self.members);
        self.dialler.close().await;
    }
}
