//! `parley page get`.
use super::address::PageUrl;
use super::chunk_store::ReadError;
use super::log::Log;
use super::state::State;
use super::visitor::Visitor;
use super::{Session, common_host, ignore_broken_pipe};
use crate::exit::Exit;
use crate::stop::Stop;
use crate::watch::Output;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Fetches a page from its holders, verifies it, decrypts it with the key of its URL and writes it.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/p/ADDRESS, or ADDRESS with --host
    #[arg(value_name = "PAGE")]
    page: PageUrl,
    /// Where to write it; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// How long to wait for a holder if there is none
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    wait: f64,
    /// The Parley host of a bare address: https://HOST
    #[arg(long, value_name = "HOST")]
    host: Option<Url>,
    #[command(flatten)]
    session: Session,
}

impl Flags {
    /// Returns when the page is written or cannot be fetched.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let PageUrl { page, key, .. } = self.page.clone();
        let host = common_host(&[self.page], self.host.as_ref())?;
        let mut visitor = match Visitor::new(&host, &self.session.connect, self.session.memory) {
            Ok(visitor) => visitor,
            Err(end) => return Ok(end.report()),
        };
        // Only JSON lines are written: text lines would mix with the page on standard output.
        let mut log = Log::new(self.session.log);
        let (wait, mut gone_since) = (Duration::try_from_secs_f64(self.wait)?, None);
        let mut content = None;
        let exit = visitor.run(&mut stop, |visitor| {
            if visitor.welcome.is_some() && visitor.pages.is_empty() {
                visitor.fetch(page);
            }
            if self.session.log {
                log.update(visitor)?;
            }
            let Some(state) = visitor.pages.get(&page) else { return Ok(None) };
            match state.state(visitor.peers(page).next().is_some()) {
                State::Here => {
                    content = state.swarm.store.as_ref().map(|store| store.read(key.as_ref()));
                    Ok(Some(Exit::Done))
                }
                State::Refused => {
                    eprintln!("parley: {page}: {}", state.refusal().unwrap_or_default());
                    Ok(Some(Exit::Refused))
                }
                State::Gone if gone_since.get_or_insert_with(Instant::now).elapsed() >= wait => {
                    eprintln!("parley: {page}: it has no holder");
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
                return ignore_broken_pipe(written.await.map(|()| Exit::Done));
            }
            Some(Err(ReadError::MissingKey)) => "it is sealed, and the URL contains no key",
            Some(Err(ReadError::WrongKey)) => "it is sealed with another key",
            Some(Err(ReadError::Incomplete)) => "it is not what its manifest says",
        };
        eprintln!("parley: {page}: {why}");
        Ok(Exit::Refused)
    }
}
