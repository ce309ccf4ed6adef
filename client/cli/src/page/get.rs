//! `parley page get`.
use super::address::Place;
use super::copy::Unread;
use super::log::Log;
use super::state::State;
use super::visitor::Visitor;
use super::{Session, host_of, unless_unread};
use crate::exit::Exit;
use crate::stop::Stop;
use crate::watch::Output;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Fetches a page from whoever holds it, checks it, opens it with the key of its link, and writes it.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/p/ADDRESS, or an ADDRESS with --host
    #[arg(value_name = "PAGE")]
    page: Place,
    /// Where to write it; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// How long to wait for somebody who holds it, where nobody does
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    wait: f64,
    /// The Parley host of a bare address: https://HOST
    #[arg(long, value_name = "HOST")]
    host: Option<Url>,
    #[command(flatten)]
    session: Session,
}

impl Flags {
    /// Ends when it is written, or cannot be had.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let Place { page, key, .. } = self.page.clone();
        let host = host_of(&[self.page], self.host.as_ref())?;
        let mut visitor = match Visitor::new(&host, &self.session.reach, self.session.memory) {
            Ok(visitor) => visitor,
            Err(ending) => return Ok(ending.say()),
        };
        // Lines for people would be in the middle of the page.
        let mut log = Log::new(self.session.log);
        let (wait, mut gone_since) = (Duration::try_from_secs_f64(self.wait)?, None);
        let mut content = None;
        let exit = visitor.run(&mut stop, |visitor| {
            if visitor.arrived.is_some() && visitor.pages.is_empty() {
                visitor.read(page);
            }
            if self.session.log {
                log.look(visitor)?;
            }
            let Some(state) = visitor.pages.get(&page) else { return Ok(None) };
            match state.state(visitor.peers(page).next().is_some()) {
                State::Here => {
                    content = state.swarm.copy.as_ref().map(|copy| copy.read(key.as_ref()));
                    Ok(Some(Exit::Done))
                }
                State::Refused => {
                    eprintln!("parley: {page}: {}", state.why().unwrap_or_default());
                    Ok(Some(Exit::Refused))
                }
                State::Gone if gone_since.get_or_insert_with(Instant::now).elapsed() >= wait => {
                    eprintln!("parley: {page}: nobody holds it");
                    Ok(Some(Exit::Failed))
                }
                State::Gone => Ok(None),
                State::Finding | State::Fetching => {
                    gone_since = None;
                    Ok(None)
                }
            }
        });
        let exit = exit.await;
        visitor.leave().await;
        let why = match content {
            None => return exit,
            Some(Ok((_, bytes))) => {
                let written = async { Output::open(&self.output)?.write(&bytes).await };
                return unless_unread(written.await.map(|()| Exit::Done));
            }
            Some(Err(Unread::NoKey)) => "it is sealed, and the link has no key",
            Some(Err(Unread::WrongKey)) => "it is sealed with another key",
            Some(Err(Unread::NotWhole)) => "it is not what its manifest says",
        };
        eprintln!("parley: {page}: {why}");
        Ok(Exit::Refused)
    }
}
