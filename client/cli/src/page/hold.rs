//! `parley page hold`.
use super::address::PageUrl;
use super::log::Log;
use super::visitor::Visitor;
use super::{Session, common_host, ignore_broken_pipe};
use crate::exit::Exit;
use crate::stop::Stop;
use url::Url;

/// Fetches pages from their holders and serves them to others until Ctrl-C.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/p/ADDRESS, or ADDRESS with --host; several pages of one host
    #[arg(value_name = "PAGE", required = true)]
    pages: Vec<PageUrl>,
    /// The Parley host of bare addresses: https://HOST
    #[arg(long, value_name = "HOST")]
    host: Option<Url>,
    #[command(flatten)]
    session: Session,
}

impl Flags {
    /// Serves the pages until the user stops the command or the service refuses all of them.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let host = common_host(&self.pages, self.host.as_ref())?;
        let mut visitor = match Visitor::new(&host, &self.session.connect, self.session.memory) {
            Ok(visitor) => visitor,
            Err(end) => return Ok(end.report()),
        };
        let (mut log, mut pages) = (Log::new(self.session.log), self.pages);
        let exit = visitor.run(&mut stop, |visitor| {
            if visitor.welcome.is_some() {
                pages.drain(..).for_each(|url| visitor.fetch(url.page));
            }
            log.update(visitor)?;
            // A page that cannot be fetched is reported; the others are served.
            let none = !visitor.pages.is_empty() && visitor.pages.values().all(|page| page.refusal().is_some());
            Ok(none.then_some(Exit::Refused))
        });
        let exit = ignore_broken_pipe(exit.await);
        visitor.leave().await;
        exit
    }
}
