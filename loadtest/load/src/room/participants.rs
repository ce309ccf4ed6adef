//! Everybody in the room, at work.
use super::plan::{Plan, Shape, VOICE};
use crate::media::dial::Dialler;
use crate::media::receiver::{Book, Counts};
use crate::media::source::Source;
use crate::media::tracks::{Stage, Watched, publish, watch};
use anyhow::Context;
use hdrhistogram::Histogram;
use moq_tokio::Connection;
use parking_lot::Mutex;
use parley_cli::ending::Ending;
use parley_cli::media::Boxed;
use parley_cli::media::dial::Address;
use parley_cli::room::{Manner, Presence};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Between two who join: a room is to be measured, not its door.
const JOIN_PACE: Duration = Duration::from_millis(25);
/// As browsers of Parley name their tracks and rank them (MEDIA-14).
const CAMERA: &str = "camera/low";
const MICROPHONE: &str = "microphone";
const CAMERA_PRIORITY: u8 = 50;
const MICROPHONE_PRIORITY: u8 = 90;
/// Of a participant's broadcast.
const INSTANCE: &str = "load";

/// One of them.
pub struct Member {
    /// The relay it is on.
    pub relay: String,
    /// Its session.
    pub connection: Connection,
    /// What it saw.
    pub pictures: Arc<Mutex<Book>>,
    /// What it heard.
    pub voices: Arc<Mutex<Book>>,
    presence: Presence,
}

/// All of them.
pub struct Crowd {
    /// By their places.
    pub members: Vec<Member>,
    /// Sessions and tracks that were lost while they were needed.
    pub lost: u64,
    shape: Shape,
    stage: Arc<Stage>,
    diallers: BTreeMap<String, Dialler>,
    publishing: JoinSet<anyhow::Result<()>>,
    watching: JoinSet<Result<(), moq_net::Error>>,
}

/// What everybody is given.
struct Kit {
    picture: Arc<Source>,
    voice: Arc<Source>,
    /// Of each participant.
    broadcasts: Vec<String>,
    freeze: u64,
}

impl Crowd {
    /// Has all join, one after the other, and begin; or says why one could not.
    pub fn join(plan: &Plan, picture: Source) -> Boxed<'_, anyhow::Result<Result<Self, Ending>>> {
        Box::pin(async move {
            let mut joining = Vec::new();
            for place in 0..plan.shape.participants {
                let (room, reach, name) = (plan.room.clone(), plan.reach.clone(), format!("load {}", place + 1));
                joining
                    .push(tokio::spawn(async move { Presence::join(&name, &room, true, Manner::Stays, &reach).await }));
                sleep(JOIN_PACE).await;
            }
            let mut presences = Vec::new();
            for joined in joining {
                match joined.await? {
                    Ok(presence) => presences.push(presence),
                    Err(ending) => return Ok(Err(ending)),
                }
            }
            let name = |one: &Presence| format!("rooms/{}/{}/{INSTANCE}", one.room, one.participant);
            let kit = Kit {
                picture: Arc::new(picture),
                voice: Arc::new(Source::voice(VOICE)),
                broadcasts: presences.iter().map(name).collect(),
                freeze: plan.freeze.saturating_mul(1_000_000),
            };
            let mut crowd = Self {
                members: Vec::new(),
                lost: 0,
                shape: plan.shape,
                stage: Arc::new(Stage::new(2 * plan.shape.participants, Duration::from_millis(plan.max_age))),
                diallers: BTreeMap::new(),
                publishing: JoinSet::new(),
                watching: JoinSet::new(),
            };
            let mut opening = Vec::new();
            for (place, presence) in presences.into_iter().enumerate() {
                let address = match presence.asker().ask(&plan.room.host, None).await {
                    Ok(address) => address,
                    Err(ending) => return Ok(Err(ending)),
                };
                opening.push(crowd.begin(plan, &kit, place, presence, address)?);
                sleep(JOIN_PACE).await;
            }
            for opened in opening {
                crowd.members.push(opened.await?);
            }
            Ok(Ok(crowd))
        })
    }

    /// Connects one and has it publish, see and hear.
    fn begin(
        &mut self,
        plan: &Plan,
        kit: &Kit,
        place: usize,
        presence: Presence,
        address: Address,
    ) -> anyhow::Result<Boxed<'static, anyhow::Result<Member>>> {
        let shape = self.shape;
        let (out, into) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
        let broadcast = out.create_broadcast(kit.broadcasts[place].as_str())?;
        let mut sent = vec![(CAMERA, camera(place), kit.picture.clone())];
        if place < shape.speakers {
            sent.push((MICROPHONE, microphone(place), kit.voice.clone()));
        }
        let mut tracks = Vec::new();
        for (name, index, source) in sent {
            tracks.push((broadcast.create_track(name, None)?, index, source));
        }
        broadcast.announce(moq_net::origin::Route::default())?;
        let broadcast = Arc::new((out.clone(), broadcast));
        for (track, index, source) in tracks {
            // Key frames of all at one moment are more than any relay meets.
            let begin = Instant::now() + source.group() * u32::try_from(place)? / u32::try_from(shape.participants)?;
            let (stage, held) = (self.stage.clone(), broadcast.clone());
            self.publishing.spawn(async move {
                let _held = held;
                publish(&stage, &source, index, &track, begin).await
            });
        }
        let seen = (shape.seen(place), CAMERA, CAMERA_PRIORITY, camera as fn(usize) -> usize);
        let heard = (shape.heard(place), MICROPHONE, MICROPHONE_PRIORITY, microphone as fn(usize) -> usize);
        let mut books = Vec::new();
        for (whose, name, priority, index) in [seen, heard] {
            let indexes: Vec<_> = whose.iter().map(|one| index(*one)).collect();
            let book = Arc::new(Mutex::new(Book::new(&indexes, kit.freeze)?));
            for (page, one) in whose.into_iter().enumerate() {
                let watched = Watched { broadcast: kit.broadcasts[one].clone(), name, index: index(one), priority };
                let (stage, origin, book) = (self.stage.clone(), into.consume(), book.clone());
                self.watching.spawn(async move { watch(&stage, &origin, &watched, &book, page).await });
            }
            books.push(book);
        }
        let [pictures, voices] = books.try_into().ok().context("two books")?;
        let url = address.quic.context("a relay is reached over QUIC")?;
        let relay = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
        let dialler = self.diallers.entry(relay.clone());
        let dialler = dialler.or_insert_with(|| Dialler::new(&address.hashes, plan.reach.clone()));
        let opening = tokio::spawn(dialler.dial(url, Some(&out), Some(into))?);
        Ok(Box::pin(async move {
            let connection = opening.await.context("a session was not opened")??;
            Ok(Member { relay, connection, pictures, voices, presence })
        }))
    }

    /// Everybody sees and hears all that they are to.
    pub fn is_complete(&self) -> bool {
        self.members.iter().all(Member::is_complete)
    }

    /// Loss, delay and pauses begin anew.
    pub fn measure(&self) {
        for book in self.books() {
            book.lock().restart(|track| self.stage.made(track));
        }
    }

    /// What all got.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.books().for_each(|book| counts += book.lock().counts);
        counts
    }

    /// From making to arrival, in nanoseconds.
    pub fn delay(&self) -> anyhow::Result<Histogram<u64>> {
        let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
        for book in self.books() {
            all.add(&book.lock().latency)?;
        }
        Ok(all)
    }

    /// Frames that a book should have, and those that never came.
    pub fn expected(&self, book: &Mutex<Book>) -> (u64, u64) {
        let book = book.lock();
        (book.expected(|track| self.stage.made(track)), book.missing(|track| self.stage.made(track)))
    }

    /// Publishers end; waits until everybody has everything, at most so long.
    pub async fn end(&mut self, most: Duration) {
        self.lost = self.members.iter().filter(|member| !member.connection.connected()).count() as u64;
        while self.watching.try_join_next().is_some() || self.publishing.try_join_next().is_some() {
            self.lost += 1;
        }
        let now = self.stage.now();
        self.books().for_each(|book| book.lock().end(now));
        self.stage.ended.send_replace(true);
        let all = async { while self.watching.join_next().await.is_some() {} };
        let _late = tokio::time::timeout(most, all).await;
    }

    /// All leave.
    pub async fn leave(self) {
        drop((self.publishing, self.watching));
        let mut leaving = JoinSet::new();
        for member in self.members {
            leaving.spawn(member.presence.leave());
        }
        while leaving.join_next().await.is_some() {}
        for dialler in self.diallers.into_values() {
            dialler.close().await;
        }
    }

    fn books(&self) -> impl Iterator<Item = &Arc<Mutex<Book>>> {
        self.members.iter().flat_map(|member| [&member.pictures, &member.voices])
    }
}

impl Member {
    /// It sees and hears all that it is to.
    pub fn is_complete(&self) -> bool {
        [&self.pictures, &self.voices].iter().all(|book| book.lock().complete().is_some())
    }
}

/// Tracks of the run by their indexes.
const fn camera(place: usize) -> usize {
    2 * place
}

const fn microphone(place: usize) -> usize {
    2 * place + 1
}
