//! `parley page hold`.
use super::address::Place;
use super::log::Log;
use super::visitor::Visitor;
use super::{Session, host_of, unless_unread};
use crate::exit::Exit;
use crate::stop::Stop;
use url::Url;

/// Fetches pages from whoever holds them, and holds them for others until Ctrl-C.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/p/ADDRESS, or an ADDRESS with --host; several of one host
    #[arg(value_name = "PAGE", required = true)]
    pages: Vec<Place>,
    /// The Parley host of bare addresses: https://HOST
    #[arg(long, value_name = "HOST")]
    host: Option<Url>,
    #[command(flatten)]
    session: Session,
}

impl Flags {
    /// Holds them until told to go, or until the service refuses.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let host = host_of(&self.pages, self.host.as_ref())?;
        let mut visitor = match Visitor::new(&host, &self.session.reach, self.session.memory) {
            Ok(visitor) => visitor,
            Err(ending) => return Ok(ending.say()),
        };
        let (mut log, mut places) = (Log::new(self.session.log), self.pages);
        let exit = visitor.run(&mut stop, |visitor| {
            if visitor.arrived.is_some() {
                places.drain(..).for_each(|place| visitor.read(place.page));
            }
            log.look(visitor)?;
            // What cannot be had is said, and the others are held.
            let none = !visitor.pages.is_empty() && visitor.pages.values().all(|page| page.why().is_some());
            Ok(none.then_some(Exit::Refused))
        });
        let exit = unless_unread(exit.await);
        visitor.leave().await;
        exit
    }
}
