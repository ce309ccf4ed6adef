//! A WebRTC data channel. str0m implements ICE, DTLS and SCTP; this module has the sockets and the clock.
use super::local::{Sockets, binding_request, mapped_address, stun};
use super::{EventSender, LinkCommand, LinkEvent, MAX_MESSAGE, Path};
use anyhow::{Context, bail, ensure};
use futures_util::FutureExt;
use parley_protocol::shared::IceServer;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::time::{Duration, Instant};
use str0m::change::{SdpAnswer, SdpOffer, SdpPendingOffer};
use str0m::channel::ChannelId;
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, CandidateKind, Event, IceConnectionState, Input, Output, Rtc};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

/// The label of the only channel (PAGE-14).
const CHANNEL: &str = "parley-page";
/// Bytes that the peer has not confirmed: the most, and where no further chunk is taken. A few chunks fit between the two.
const MAX_BUFFERED: usize = 1 << 20;
const HIGH_WATER_MARK: usize = 256 << 10;
/// The most messages that may arrive before the channel is open here: a peer that received nothing sends little.
const MAX_EARLY_MESSAGES: usize = 8;
/// The first byte of DTLS packets (RFC 7983), which contain messages.
const DTLS_FIRST_BYTE: RangeInclusive<u8> = 20..=63;
/// The largest packet.
const MAX_PACKET: usize = 2048;
/// When STUN requests are sent, after the start: packets may be lost.
const STUN_TIMES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_millis(1200)];
/// How long a lost connection may take to recover.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last messages may take before the connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The role in the negotiation.
pub enum Role {
    /// The reader, which sends the offer.
    Offers,
    /// The holder, with the reader's offer.
    Answers(String),
}

/// Carries messages until the connection is closed, and reports why.
pub async fn run(role: Role, servers: Vec<IceServer>, commands: mpsc::Receiver<LinkCommand>, events: EventSender) {
    let why = match Direct::begin(role, &events).await {
        Ok(mut direct) => direct
            .carry(&servers, commands, &events)
            .await
            .map_or_else(|why| format!("{why:#}"), |()| "the connection was closed".into()),
        Err(why) => format!("{why:#}"),
    };
    events.send(LinkEvent::Closed(why)).await;
}

struct Direct {
    rtc: Rtc,
    sockets: Sockets,
    pending: Option<SdpPendingOffer>,
    /// Candidates that arrived before the answer.
    early_candidates: Vec<Candidate>,
    /// The `mid` of the section of the channel.
    mid: Option<String>,
    channel: Option<ChannelId>,
    /// The offered channel, and the messages that arrived on it before it was reported open: Firefox sends that early_candidates.
    offered: Option<ChannelId>,
    early_messages: Vec<LinkEvent>,
    stun: Option<SocketAddr>,
    /// How many STUN requests were sent, and the mapped addresses in the answers.
    stun_requests: usize,
    mapped: BTreeSet<SocketAddr>,
    began: Instant,
    /// The peer's candidates that are relayed by a TURN server.
    relayed: BTreeSet<SocketAddr>,
    /// The last destination of messages, and the path that was reported.
    last: Option<SocketAddr>,
    reported: Path,
    lost: Option<Instant>,
    closing: Option<Instant>,
}

impl Direct {
    async fn begin(role: Role, events: &EventSender) -> anyhow::Result<Self> {
        let sockets = Sockets::open().await.context("no local address")?;
        let began = Instant::now();
        let config = Rtc::builder().clear_codecs().set_sctp_max_message_size(MAX_MESSAGE);
        let mut rtc = config.set_sctp_max_buffered_amount(MAX_BUFFERED).build(began);
        for address in sockets.addresses() {
            rtc.add_local_candidate(Candidate::host(address, "udp")?);
        }
        let mut relayed = BTreeSet::new();
        let (description, pending, offered) = match role {
            Role::Offers => {
                let mut change = rtc.sdp_api();
                let offered = change.add_channel(CHANNEL.to_owned());
                let (offer, pending) = change.apply().context("the offer is invalid")?;
                (offer.to_sdp_string(), Some(pending), Some(offered))
            }
            Role::Answers(offer) => {
                note_relayed(&offer, &mut relayed);
                let offer = SdpOffer::from_sdp_string(&offer).context("the offer is invalid")?;
                (rtc.sdp_api().accept_offer(offer)?.to_sdp_string(), None, None)
            }
        };
        let mid = description.lines().find_map(|line| line.strip_prefix("a=mid:")).map(|mid| mid.trim().to_owned());
        events.send(LinkEvent::Description(description)).await;
        Ok(Self {
            rtc,
            sockets,
            pending,
            early_candidates: Vec::new(),
            mid,
            channel: None,
            offered,
            early_messages: Vec::new(),
            stun: None,
            stun_requests: 0,
            mapped: BTreeSet::new(),
            began,
            relayed,
            last: None,
            reported: Path::Connecting,
            lost: None,
            closing: None,
        })
    }

    async fn carry(
        &mut self,
        servers: &[IceServer],
        mut commands: mpsc::Receiver<LinkCommand>,
        events: &EventSender,
    ) -> anyhow::Result<()> {
        let (mut buffer, mut lookup) = (vec![0; MAX_PACKET], pin!(stun(servers).fuse()));
        loop {
            let buffered = self.buffered();
            let until = self.drain(events).await?;
            if !self.rtc.is_alive() || self.closing.is_some_and(|closing| buffered == 0 || closing <= Instant::now()) {
                return self.finish(events).await;
            }
            let wake =
                [Some(until), self.stun_at(), self.lost, self.closing].into_iter().flatten().min().unwrap_or(until);
            tokio::select! {
                command = commands.recv(), if self.closing.is_none() && buffered < HIGH_WATER_MARK => match command {
                    None => return self.finish(events).await,
                    Some(command) => self.on_command(command, events).await?,
                },
                packet = self.sockets.receive(&mut buffer) => {
                    if self.stun == Some(packet.from) {
                        self.on_stun_answer(&buffer[..packet.size], packet.at, events).await;
                    } else if let Ok(contents) = buffer[..packet.size].try_into() {
                        let receive = Receive { proto: Protocol::Udp, source: packet.from, destination: packet.at, contents };
                        self.rtc.handle_input(Input::Receive(Instant::now(), receive))?;
                    }
                }
                found = &mut lookup => self.stun = found,
                () = sleep_until(wake.into()) => {
                    let now = Instant::now();
                    ensure!(self.lost.is_none_or(|lost| now < lost), "the connection was lost");
                    self.send_stun(now).await;
                    self.rtc.handle_input(Input::Timeout(now))?;
                }
            }
        }
    }

    fn buffered(&mut self) -> usize {
        self.channel.and_then(|id| self.rtc.channel(id)).map_or(0, |mut channel| channel.buffered_amount())
    }

    /// Sends packets and events until nothing is left. Returns when str0m needs the clock next.
    async fn drain(&mut self, events: &EventSender) -> anyhow::Result<Instant> {
        loop {
            match self.rtc.poll_output()? {
                Output::Timeout(until) => {
                    if self.reported != Path::Connecting && self.reported != self.path() {
                        self.reported = self.path();
                        events.send(LinkEvent::PathChanged(self.reported)).await;
                    }
                    return Ok(until);
                }
                Output::Transmit(packet) => {
                    // Packets of ICE do not count: they also probe paths that are not used.
                    if packet.contents.first().is_some_and(|first| DTLS_FIRST_BYTE.contains(first)) {
                        self.last = Some(packet.destination);
                    }
                    self.sockets.send(packet.source, packet.destination, &packet.contents).await;
                }
                Output::Event(event) => self.on_event(event, events).await?,
            }
        }
    }

    fn path(&self) -> Path {
        let relayed = self.last.is_some_and(|last| self.relayed.contains(&last));
        if relayed { Path::Turn } else { Path::Direct }
    }

    async fn on_event(&mut self, event: Event, events: &EventSender) -> anyhow::Result<()> {
        match event {
            Event::ChannelOpen(id, name) if name == CHANNEL && self.channel.is_none() => {
                self.channel = Some(id);
                self.reported = self.path();
                events.send(LinkEvent::Open(self.reported)).await;
                for message in std::mem::take(&mut self.early_messages) {
                    events.send(message).await;
                }
            }
            Event::ChannelData(data) if Some(data.id) == self.channel.or(self.offered) => {
                let message = match data.binary {
                    true => LinkEvent::Binary(data.data.into()),
                    false => LinkEvent::Text(String::from_utf8(data.data).context("a text message is not UTF-8")?),
                };
                match self.channel {
                    Some(_) => drop(events.send(message).await),
                    None => self.early_messages.push(message),
                }
                ensure!(
                    self.early_messages.len() <= MAX_EARLY_MESSAGES,
                    "it sent too many messages before the channel was open"
                );
            }
            Event::ChannelClose(id) if Some(id) == self.channel => self.rtc.disconnect(),
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => match self.channel {
                None => bail!("no path was found"),
                Some(_) => self.lost = Some(Instant::now() + RECOVERY_TIMEOUT),
            },
            Event::IceConnectionStateChange(IceConnectionState::Connected | IceConnectionState::Completed) => {
                self.lost = None;
            }
            _ => {}
        }
        Ok(())
    }

    async fn on_command(&mut self, command: LinkCommand, events: &EventSender) -> anyhow::Result<()> {
        match command {
            LinkCommand::Answer(text) => {
                note_relayed(&text, &mut self.relayed);
                let answer = SdpAnswer::from_sdp_string(&text).context("the answer is invalid")?;
                let pending = self.pending.take().context("there is an answer already")?;
                self.rtc.sdp_api().accept_answer(pending, answer)?;
                for candidate in std::mem::take(&mut self.early_candidates) {
                    self.drain(events).await?;
                    self.rtc.add_remote_candidate(candidate);
                }
            }
            // A candidate whose host is an mDNS name is ignored: ICE finds its address when packets arrive from it.
            LinkCommand::Candidate(text) => {
                if let Ok(candidate) = Candidate::from_sdp_string(&text) {
                    if candidate.kind() == CandidateKind::Relayed {
                        self.relayed.insert(candidate.addr());
                    }
                    match self.pending {
                        Some(_) => self.early_candidates.push(candidate),
                        None => self.rtc.add_remote_candidate(candidate),
                    }
                }
            }
            LinkCommand::Text(text) => self.write(false, text.as_bytes())?,
            LinkCommand::Chunk(bytes) => {
                self.write(true, &bytes)?;
                events.send(LinkEvent::ChunkSent).await;
            }
            LinkCommand::Close => self.closing = Some(Instant::now() + CLOSE_TIMEOUT),
        }
        Ok(())
    }

    fn write(&mut self, binary: bool, bytes: &[u8]) -> anyhow::Result<()> {
        let channel = self.channel.and_then(|id| self.rtc.channel(id));
        let Some(mut channel) = channel else { return Ok(()) };
        ensure!(channel.write(binary, bytes)?, "a message is too large");
        Ok(())
    }

    /// When the next STUN request is due.
    fn stun_at(&self) -> Option<Instant> {
        self.stun?;
        STUN_TIMES.get(self.stun_requests).map(|after| self.began + *after)
    }

    async fn send_stun(&mut self, now: Instant) {
        let Some((at, server)) = self.stun_at().zip(self.stun) else { return };
        if at > now {
            return;
        }
        self.stun_requests += 1;
        for address in self.sockets.addresses().filter(|address| address.is_ipv4() == server.is_ipv4()) {
            self.sockets.send(address, server, &binding_request()).await;
        }
    }

    /// Handles the answer of a STUN server.
    async fn on_stun_answer(&mut self, packet: &[u8], base: SocketAddr, events: &EventSender) {
        let Some(mapped) = mapped_address(packet).filter(|mapped| *mapped != base && self.mapped.insert(*mapped))
        else {
            return;
        };
        let Ok(candidate) = Candidate::server_reflexive(mapped, base, "udp") else { return };
        let text = candidate.to_sdp_string();
        if self.rtc.add_local_candidate(candidate).is_some() {
            events.send(LinkEvent::Candidate(text, self.mid.clone())).await;
        }
    }

    async fn finish(&mut self, events: &EventSender) -> anyhow::Result<()> {
        self.rtc.close()?;
        self.drain(events).await.map(drop)
    }
}

/// Collects the relayed candidates of a description.
fn note_relayed(description: &str, relayed: &mut BTreeSet<SocketAddr>) {
    let candidates = description.lines().filter_map(|line| line.trim().strip_prefix("a="));
    let candidates = candidates.filter_map(|line| Candidate::from_sdp_string(line).ok());
    relayed.extend(candidates.filter(|one| one.kind() == CandidateKind::Relayed).map(|one| one.addr()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use str0m::channel::ChannelData;

    /// As Chrome writes it: mDNS names hide its addresses, and some candidates are TCP.
    const OFFER: &str = "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n\
a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n\
a=candidate:1467250027 1 udp 2122260223 1f4712db-ea17-4bcf-a596-105139dfd8bf.local 46243 typ host generation 0 network-id 1\r\n\
a=candidate:435653019 1 tcp 1518280447 1f4712db-ea17-4bcf-a596-105139dfd8bf.local 9 typ host tcptype active generation 0\r\n\
a=candidate:842163049 1 udp 41885439 203.0.113.7 40123 typ relay raddr 0.0.0.0 rport 0 generation 0\r\n\
a=ice-ufrag:ZZZZ\r\na=ice-pwd:asdfasdfasdfasdfasdfasdf\r\na=ice-options:trickle\r\n\
a=fingerprint:sha-256 39:4A:09:1E:0E:33:32:85:51:03:49:95:54:0B:41:09:A2:10:60:CC:39:8F:C0:C4:45:FC:37:3A:55:EA:11:74\r\n\
a=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\na=max-message-size:262144\r\n";

    #[tokio::test]
    async fn the_offer_of_a_browser_is_answered_and_its_relayed_candidates_are_known() {
        let (to, mut sent) = mpsc::channel(8);
        let role = Role::Answers(OFFER.into());
        let direct = Direct::begin(role, &EventSender { id: 1, to }).await.unwrap();
        let Some((1, LinkEvent::Description(answer))) = sent.recv().await else { panic!("no answer") };
        assert!(answer.contains("webrtc-datachannel") && answer.contains("a=candidate:"), "{answer}");
        assert_eq!(direct.mid.as_deref(), Some("0"));
        assert_eq!(direct.relayed, ["203.0.113.7:40123".parse().unwrap()].into());
    }

    #[tokio::test]
    async fn messages_that_arrive_before_the_channel_is_open_are_delivered_after_it() {
        let (to, mut sent) = mpsc::channel(8);
        let events = EventSender { id: 1, to };
        let mut direct = Direct::begin(Role::Offers, &events).await.unwrap();
        let id = direct.offered.unwrap();
        for text in ["first", "second"] {
            let data = ChannelData { id, binary: false, data: text.into() };
            direct.on_event(Event::ChannelData(data), &events).await.unwrap();
        }
        direct.on_event(Event::ChannelOpen(id, CHANNEL.into()), &events).await.unwrap();
        let mut received = Vec::new();
        while let Ok((_, message)) = sent.try_recv() {
            received.push(message);
        }
        let [LinkEvent::Description(_), LinkEvent::Open(Path::Direct), LinkEvent::Text(first), LinkEvent::Text(second)] =
            &received[..]
        else {
            panic!("{received:?}")
        };
        assert_eq!((first.as_str(), second.as_str()), ("first", "second"));
    }
}
