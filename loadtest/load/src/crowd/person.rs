//! One participant: it asks for a ticket, enters, holds its socket, and comes back as the same participant when it loses it.
use super::admission::{self, Answer};
use super::plan::Plan;
use super::socket::{Credential, Event, Loss, RoomSocket, Welcome, first_message};
use super::tally::{Phase, Tally};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The pauses of the SDK (`client/sdk/src/net/backoff.ts`): below the first after the first failure, doubled up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The room is full: an answer, not an error.
const ROOM_FULL: &str = "ROOM_FULL";
/// A socket that the participant itself gave up, at the time of `--drop-at`.
const DROPPED: &str = "DROPPED";
/// A participant that was welcomed back as another one.
const ANOTHER_PARTICIPANT: &str = "ANOTHER_PARTICIPANT";

/// One participant.
pub struct Person {
    number: usize,
    plan: Arc<Plan>,
    tally: Arc<Mutex<Tally>>,
    generation: u64,
    phase: Phase,
    /// Whether the time of `--drop-at` has come for this participant.
    dropped: bool,
}

/// How a participant stays in the room.
struct Stay {
    path: String,
    participant: String,
    token: String,
    grace: Duration,
}

impl Person {
    /// Before its arrival.
    pub fn new(number: usize, plan: Arc<Plan>, tally: Arc<Mutex<Tally>>) -> Self {
        Self { number, plan, tally, generation: 0, phase: Phase::Expected, dropped: false }
    }

    /// From the arrival until all leave.
    pub async fn attend(&mut self) {
        sleep_until(self.plan.arrival(self.number)).await;
        self.tally.lock().late(self.plan.arrival(self.number).elapsed());
        let leave_at = self.plan.leave_at;
        let socket = tokio::select! {
            // At the end both are ready, and a participant that is in its room leaves it.
            biased;
            socket = self.come() => socket,
            () = sleep_until(leave_at) => None,
        };
        if let Some(socket) = socket {
            socket.leave().await;
        }
    }

    /// Joins, and stays. Returns the socket that is open when all leave.
    async fn come(&mut self) -> Option<RoomSocket> {
        self.enter(Phase::Arriving);
        let arrived = Instant::now();
        let (mut socket, mut stay) = self.join().await?;
        self.tally.lock().joined(arrived.elapsed());
        loop {
            self.enter(Phase::Here);
            let loss = match self.hold(&mut socket, &mut stay).await {
                Ok(()) => return Some(socket),
                Err(loss) => loss,
            };
            drop(socket);
            self.tally.lock().lost_socket(&loss.code);
            self.enter(Phase::Away);
            socket = self.come_back(&mut stay, loss).await?;
        }
    }

    /// Asks for a ticket until it gets one, and enters.
    async fn join(&mut self) -> Option<(RoomSocket, Stay)> {
        let (mut slot, mut failures) = (None, 0);
        let name = self.name();
        loop {
            let asked = Instant::now();
            let plan = self.plan.clone();
            let answer =
                admission::request(plan.edge(self.number), plan.room(self.number), &name, slot.as_deref()).await;
            self.tally.lock().answered(&answer, asked.elapsed());
            let loss = match answer {
                Answer::Slot { slot: given, after } => {
                    slot = Some(given);
                    self.enter(Phase::Waiting);
                    sleep(after).await;
                    self.enter(Phase::Arriving);
                    continue;
                }
                Answer::Ticket { ticket, path } => match self.open(&path, &Credential::Ticket(ticket)).await {
                    Ok((socket, Welcome { participant, token, grace })) => {
                        return Some((socket, Stay { path, participant, token, grace }));
                    }
                    Err(loss) => {
                        if loss.comes_back {
                            self.tally.lock().refused(&loss.code);
                        }
                        loss
                    }
                },
                Answer::Refused { code, after } => {
                    Loss { code, after: after.unwrap_or_default(), comes_back: after.is_some() }
                }
            };
            // A person who finds the room full reads so, and does not knock without end.
            if !loss.comes_back || loss.code == ROOM_FULL {
                self.end(&loss.code);
                return None;
            }
            sleep(loss.after + pause(failures)).await;
            failures += 1;
        }
    }

    /// Opens sockets until the participant is welcomed on one.
    async fn come_back(&mut self, stay: &mut Stay, mut loss: Loss) -> Option<RoomSocket> {
        let lost = Instant::now();
        let mut failures = 0;
        loop {
            if !loss.comes_back || lost.elapsed() > stay.grace {
                self.tally.lock().gone();
                self.end(&loss.code);
                return None;
            }
            // A participant that a draining pod moves has its own slot already.
            if loss.code != "GOAWAY" || failures > 0 {
                sleep(loss.after + pause(failures)).await;
            }
            failures += 1;
            match self.open(&stay.path, &Credential::Token(stay.token.clone())).await {
                Ok((_, welcome)) if welcome.participant != stay.participant => {
                    self.tally.lock().gone();
                    self.end(ANOTHER_PARTICIPANT);
                    return None;
                }
                Ok((socket, welcome)) => {
                    stay.token = welcome.token;
                    self.tally.lock().back(lost.elapsed());
                    return Some(socket);
                }
                Err(why) => {
                    if why.comes_back {
                        self.tally.lock().refused(&why.code);
                    }
                    loss = why;
                }
            }
        }
    }

    async fn open(&mut self, path: &str, credential: &Credential) -> Result<(RoomSocket, Welcome), Loss> {
        self.generation += 1;
        let first = first_message(&self.name(), self.generation, credential);
        RoomSocket::open(self.plan.edge(self.number), path, &first, || self.tally.lock().waited()).await
    }

    /// Holds the socket until all leave. An error: it was lost.
    async fn hold(&mut self, socket: &mut RoomSocket, stay: &mut Stay) -> Result<(), Loss> {
        let leave_at = self.plan.leave_at;
        let drop_at = self.plan.drop_at.filter(|_| !self.dropped).unwrap_or(leave_at);
        let mut move_at = None;
        loop {
            tokio::select! {
                event = socket.event() => match event? {
                    Event::Token(token) => stay.token = token,
                    Event::Move(after) => move_at = Some(Instant::now() + after),
                },
                () = sleep_until(move_at.unwrap_or(leave_at)), if move_at.is_some() => return Err(Loss::of("GOAWAY")),
                () = sleep_until(drop_at.min(leave_at)) => {
                    if drop_at >= leave_at {
                        return Ok(());
                    }
                    self.dropped = true;
                    return Err(Loss::of(DROPPED));
                }
            }
        }
    }

    /// The participant ends for good, because of this.
    fn end(&mut self, code: &str) {
        if code == ROOM_FULL {
            return self.enter(Phase::Full);
        }
        self.tally.lock().error(code);
        self.enter(Phase::Gone);
    }

    fn enter(&mut self, phase: Phase) {
        self.tally.lock().moved(self.phase, phase);
        self.phase = phase;
    }

    fn name(&self) -> String {
        format!("crowd {}", self.number)
    }
}

/// Full jitter: a random time below the bound, which doubles with each failure.
fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE).mul_f64(fastrand::f64())
}
