//! A data channel of WebRTC: ICE, DTLS and SCTP are up to str0m, sockets and time are here.
use super::local::{Sockets, answer, question, stun};
use super::{MESSAGE_MAX, News, Order, Teller, Way};
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

/// Of the only channel (PAGE-14).
const CHANNEL: &str = "parley-page";
/// What the other has not confirmed yet: as much again is on its way in a chunk or two.
const BUFFERED_MAX: usize = 1 << 20;
const BUFFERED_HIGH: usize = 256 << 10;
/// Who has heard nothing yet has little to say.
const UNHEARD_MAX: usize = 8;
/// What packets with messages begin with (RFC 7983).
const DTLS: RangeInclusive<u8> = 20..=63;
/// The largest packet.
const PACKET: usize = 2048;
/// When STUN is asked, from the beginning: packets may be lost.
const STUN: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_millis(1200)];
/// A connection that was lost comes back within this, or not at all.
const BACK: Duration = Duration::from_secs(10);
/// What is to be said last is gone by then, or never.
const ENDING: Duration = Duration::from_secs(2);

/// Which of two makes it.
pub enum Role {
    /// The reader.
    Offers,
    /// The holder, with what the reader offered.
    Answers(String),
}

/// Carries messages until it is over, and says why.
pub async fn run(role: Role, servers: Vec<IceServer>, orders: mpsc::Receiver<Order>, teller: Teller) {
    let why = match Direct::begin(role, &teller).await {
        Ok(mut direct) => {
            direct.carry(&servers, orders, &teller).await.map_or_else(|why| format!("{why:#}"), |()| "it ended".into())
        }
        Err(why) => format!("{why:#}"),
    };
    teller.tell(News::Ended(why)).await;
}

struct Direct {
    rtc: Rtc,
    sockets: Sockets,
    pending: Option<SdpPendingOffer>,
    /// What came before the answer.
    early: Vec<Candidate>,
    /// Of the section of the channel.
    mid: Option<String>,
    channel: Option<ChannelId>,
    /// The one we offered, and what came on it before we heard that it is open: Firefox speaks that early.
    offered: Option<ChannelId>,
    unheard: Vec<News>,
    stun: Option<SocketAddr>,
    /// Questions to it, and where each address was said to be.
    asked: usize,
    mapped: BTreeSet<SocketAddr>,
    began: Instant,
    /// The other's addresses that are a TURN server's.
    relayed: BTreeSet<SocketAddr>,
    /// Where packets go, and what was told of it.
    last: Option<SocketAddr>,
    told: Way,
    lost: Option<Instant>,
    ending: Option<Instant>,
}

impl Direct {
    async fn begin(role: Role, teller: &Teller) -> anyhow::Result<Self> {
        let sockets = Sockets::open().await.context("no address")?;
        let began = Instant::now();
        let config = Rtc::builder().clear_codecs().set_sctp_max_message_size(MESSAGE_MAX);
        let mut rtc = config.set_sctp_max_buffered_amount(BUFFERED_MAX).build(began);
        for address in sockets.addresses() {
            rtc.add_local_candidate(Candidate::host(address, "udp")?);
        }
        let mut relayed = BTreeSet::new();
        let (description, pending, offered) = match role {
            Role::Offers => {
                let mut change = rtc.sdp_api();
                let offered = change.add_channel(CHANNEL.to_owned());
                let (offer, pending) = change.apply().context("no offer")?;
                (offer.to_sdp_string(), Some(pending), Some(offered))
            }
            Role::Answers(offer) => {
                note_relayed(&offer, &mut relayed);
                let offer = SdpOffer::from_sdp_string(&offer).context("no offer")?;
                (rtc.sdp_api().accept_offer(offer)?.to_sdp_string(), None, None)
            }
        };
        let mid = description.lines().find_map(|line| line.strip_prefix("a=mid:")).map(|mid| mid.trim().to_owned());
        teller.tell(News::Description(description)).await;
        Ok(Self {
            rtc,
            sockets,
            pending,
            early: Vec::new(),
            mid,
            channel: None,
            offered,
            unheard: Vec::new(),
            stun: None,
            asked: 0,
            mapped: BTreeSet::new(),
            began,
            relayed,
            last: None,
            told: Way::Connecting,
            lost: None,
            ending: None,
        })
    }

    async fn carry(
        &mut self,
        servers: &[IceServer],
        mut orders: mpsc::Receiver<Order>,
        teller: &Teller,
    ) -> anyhow::Result<()> {
        let (mut buffer, mut looking_up) = (vec![0; PACKET], pin!(stun(servers).fuse()));
        loop {
            let buffered = self.buffered();
            let until = self.drain(teller).await?;
            if !self.rtc.is_alive() || self.ending.is_some_and(|ending| buffered == 0 || ending <= Instant::now()) {
                return self.finish(teller).await;
            }
            let wake =
                [Some(until), self.ask_at(), self.lost, self.ending].into_iter().flatten().min().unwrap_or(until);
            tokio::select! {
                order = orders.recv(), if self.ending.is_none() && buffered < BUFFERED_HIGH => match order {
                    None => return self.finish(teller).await,
                    Some(order) => self.obey(order, teller).await?,
                },
                came = self.sockets.receive(&mut buffer) => {
                    if self.stun == Some(came.from) {
                        self.learn(&buffer[..came.size], came.at, teller).await;
                    } else if let Ok(contents) = buffer[..came.size].try_into() {
                        let receive = Receive { proto: Protocol::Udp, source: came.from, destination: came.at, contents };
                        self.rtc.handle_input(Input::Receive(Instant::now(), receive))?;
                    }
                }
                found = &mut looking_up => self.stun = found,
                () = sleep_until(wake.into()) => {
                    let now = Instant::now();
                    ensure!(self.lost.is_none_or(|lost| now < lost), "the connection was lost");
                    self.ask(now).await;
                    self.rtc.handle_input(Input::Timeout(now))?;
                }
            }
        }
    }

    fn buffered(&mut self) -> usize {
        self.channel.and_then(|id| self.rtc.channel(id)).map_or(0, |mut channel| channel.buffered_amount())
    }

    /// Sends and tells all there is; until when nothing will happen by itself.
    async fn drain(&mut self, teller: &Teller) -> anyhow::Result<Instant> {
        loop {
            match self.rtc.poll_output()? {
                Output::Timeout(until) => {
                    if self.told != Way::Connecting && self.told != self.way() {
                        self.told = self.way();
                        teller.tell(News::Way(self.told)).await;
                    }
                    return Ok(until);
                }
                Output::Transmit(packet) => {
                    // Not where ICE asks whether there might be a better way.
                    if packet.contents.first().is_some_and(|first| DTLS.contains(first)) {
                        self.last = Some(packet.destination);
                    }
                    self.sockets.send(packet.source, packet.destination, &packet.contents).await;
                }
                Output::Event(event) => self.hear(event, teller).await?,
            }
        }
    }

    fn way(&self) -> Way {
        let relayed = self.last.is_some_and(|last| self.relayed.contains(&last));
        if relayed { Way::Turn } else { Way::Direct }
    }

    async fn hear(&mut self, event: Event, teller: &Teller) -> anyhow::Result<()> {
        match event {
            Event::ChannelOpen(id, name) if name == CHANNEL && self.channel.is_none() => {
                self.channel = Some(id);
                self.told = self.way();
                teller.tell(News::Open(self.told)).await;
                for news in std::mem::take(&mut self.unheard) {
                    teller.tell(news).await;
                }
            }
            Event::ChannelData(data) if Some(data.id) == self.channel.or(self.offered) => {
                let news = match data.binary {
                    true => News::Binary(data.data.into()),
                    false => News::Text(String::from_utf8(data.data).context("what came is no text")?),
                };
                match self.channel {
                    Some(_) => drop(teller.tell(news).await),
                    None => self.unheard.push(news),
                }
                ensure!(self.unheard.len() <= UNHEARD_MAX, "it speaks too early");
            }
            Event::ChannelClose(id) if Some(id) == self.channel => self.rtc.disconnect(),
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => match self.channel {
                None => bail!("no direct way"),
                Some(_) => self.lost = Some(Instant::now() + BACK),
            },
            Event::IceConnectionStateChange(IceConnectionState::Connected | IceConnectionState::Completed) => {
                self.lost = None;
            }
            _ => {}
        }
        Ok(())
    }

    async fn obey(&mut self, order: Order, teller: &Teller) -> anyhow::Result<()> {
        match order {
            Order::Answer(text) => {
                note_relayed(&text, &mut self.relayed);
                let answer = SdpAnswer::from_sdp_string(&text).context("no answer")?;
                let pending = self.pending.take().context("there is an answer already")?;
                self.rtc.sdp_api().accept_answer(pending, answer)?;
                for candidate in std::mem::take(&mut self.early) {
                    self.drain(teller).await?;
                    self.rtc.add_remote_candidate(candidate);
                }
            }
            // One that names its host by mDNS is found by where its packets come from.
            Order::Candidate(text) => {
                if let Ok(candidate) = Candidate::from_sdp_string(&text) {
                    if candidate.kind() == CandidateKind::Relayed {
                        self.relayed.insert(candidate.addr());
                    }
                    match self.pending {
                        Some(_) => self.early.push(candidate),
                        None => self.rtc.add_remote_candidate(candidate),
                    }
                }
            }
            Order::Text(text) => self.write(false, text.as_bytes())?,
            Order::Chunk(bytes) => {
                self.write(true, &bytes)?;
                teller.tell(News::Sent).await;
            }
            Order::End => self.ending = Some(Instant::now() + ENDING),
        }
        Ok(())
    }

    fn write(&mut self, binary: bool, bytes: &[u8]) -> anyhow::Result<()> {
        let channel = self.channel.and_then(|id| self.rtc.channel(id));
        let Some(mut channel) = channel else { return Ok(()) };
        ensure!(channel.write(binary, bytes)?, "a message is too large");
        Ok(())
    }

    /// When STUN is asked next.
    fn ask_at(&self) -> Option<Instant> {
        self.stun?;
        STUN.get(self.asked).map(|after| self.began + *after)
    }

    async fn ask(&mut self, now: Instant) {
        let Some((at, server)) = self.ask_at().zip(self.stun) else { return };
        if at > now {
            return;
        }
        self.asked += 1;
        for address in self.sockets.addresses().filter(|address| address.is_ipv4() == server.is_ipv4()) {
            self.sockets.send(address, server, &question()).await;
        }
    }

    /// Takes what a STUN server says.
    async fn learn(&mut self, packet: &[u8], base: SocketAddr, teller: &Teller) {
        let Some(mapped) = answer(packet).filter(|mapped| *mapped != base && self.mapped.insert(*mapped)) else {
            return;
        };
        let Ok(candidate) = Candidate::server_reflexive(mapped, base, "udp") else { return };
        let text = candidate.to_sdp_string();
        if self.rtc.add_local_candidate(candidate).is_some() {
            teller.tell(News::Candidate(text, self.mid.clone())).await;
        }
    }

    async fn finish(&mut self, teller: &Teller) -> anyhow::Result<()> {
        self.rtc.close()?;
        self.drain(teller).await.map(drop)
    }
}

/// Candidates of TURN in a description.
fn note_relayed(description: &str, relayed: &mut BTreeSet<SocketAddr>) {
    let candidates = description.lines().filter_map(|line| line.trim().strip_prefix("a="));
    let candidates = candidates.filter_map(|line| Candidate::from_sdp_string(line).ok());
    relayed.extend(candidates.filter(|one| one.kind() == CandidateKind::Relayed).map(|one| one.addr()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use str0m::channel::ChannelData;

    /// As Chrome writes it: its addresses are hidden behind names of mDNS, some are of TCP.
    const OFFER: &str = "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n\
a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n\
a=candidate:1467250027 1 udp 2122260223 1f4712db-ea17-4bcf-a596-105139dfd8bf.local 46243 typ host generation 0 network-id 1\r\n\
a=candidate:435653019 1 tcp 1518280447 1f4712db-ea17-4bcf-a596-105139dfd8bf.local 9 typ host tcptype active generation 0\r\n\
a=candidate:842163049 1 udp 41885439 203.0.113.7 40123 typ relay raddr 0.0.0.0 rport 0 generation 0\r\n\
a=ice-ufrag:ZZZZ\r\na=ice-pwd:asdfasdfasdfasdfasdfasdf\r\na=ice-options:trickle\r\n\
a=fingerprint:sha-256 39:4A:09:1E:0E:33:32:85:51:03:49:95:54:0B:41:09:A2:10:60:CC:39:8F:C0:C4:45:FC:37:3A:55:EA:11:74\r\n\
a=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\na=max-message-size:262144\r\n";

    #[tokio::test]
    async fn an_offer_of_a_browser_is_answered_and_its_relayed_addresses_known() {
        let (to, mut told) = mpsc::channel(8);
        let role = Role::Answers(OFFER.into());
        let direct = Direct::begin(role, &Teller { id: 1, to }).await.unwrap();
        let Some((1, News::Description(answer))) = told.recv().await else { panic!("no answer") };
        assert!(answer.contains("webrtc-datachannel") && answer.contains("a=candidate:"), "{answer}");
        assert_eq!(direct.mid.as_deref(), Some("0"));
        assert_eq!(direct.relayed, ["203.0.113.7:40123".parse().unwrap()].into());
    }

    #[tokio::test]
    async fn what_comes_before_the_channel_is_known_to_be_open_is_heard_after_that() {
        let (to, mut told) = mpsc::channel(8);
        let teller = Teller { id: 1, to };
        let mut direct = Direct::begin(Role::Offers, &teller).await.unwrap();
        let id = direct.offered.unwrap();
        for text in ["first", "second"] {
            let data = ChannelData { id, binary: false, data: text.into() };
            direct.hear(Event::ChannelData(data), &teller).await.unwrap();
        }
        direct.hear(Event::ChannelOpen(id, CHANNEL.into()), &teller).await.unwrap();
        let mut heard = Vec::new();
        while let Ok((_, news)) = told.try_recv() {
            heard.push(news);
        }
        let [News::Description(_), News::Open(Way::Direct), News::Text(first), News::Text(second)] = &heard[..] else {
            panic!("{heard:?}")
        };
        assert_eq!((first.as_str(), second.as_str()), ("first", "second"));
    }
}
