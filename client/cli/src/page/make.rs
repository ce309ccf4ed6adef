//! `parley page make`.
use super::address::PageUrl;
use super::log::{Log, write};
use super::manifest::{Head, make};
use super::seal::Key;
use super::visitor::Visitor;
use super::{Session, ignore_broken_pipe};
use crate::exit::Exit;
use crate::host_url::host_of;
use crate::stop::Stop;
use anyhow::{Context, ensure};
use parley_protocol::shared::MediaType;
use std::path::{Path, PathBuf};
use url::Url;

/// Makes a page of a file, prints its URL and serves it until Ctrl-C. The page is gone when its last holder leaves.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The Parley host: https://HOST
    #[arg(long, value_name = "HOST")]
    host: Url,
    /// Media type, without parameters; text is UTF-8 [by the name of the file]
    #[arg(long = "type", value_name = "TYPE", value_parser = media_type)]
    kind: Option<String>,
    /// Encrypt the page: only readers with the complete URL, which contains the key, can read it
    #[arg(long)]
    sealed: bool,
    #[command(flatten)]
    session: Session,
}

/// Media types by file extension.
const TYPES: [(&str, &str); 20] = [
    ("avif", "image/avif"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("zip", "application/zip"),
];
const NAME_MAX: usize = 200;

impl Flags {
    /// Serves the page until the user stops the command or the service refuses it.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let shown = self.file.display().to_string();
        let size = std::fs::metadata(&self.file).with_context(|| shown.clone())?.len();
        ensure!(size > 0, "{shown} is empty");
        let host = host_of(&self.host);
        let mut visitor = match Visitor::new(&host, &self.session.connect, self.session.memory) {
            Ok(visitor) => visitor,
            Err(end) => return Ok(end.report()),
        };
        let (mut log, mut made) = (Log::new(self.session.log), false);
        let exit = visitor.run(&mut stop, |visitor| {
            if let Some(limits) = visitor.welcome.as_ref().map(|welcome| welcome.limits.clone())
                && !std::mem::replace(&mut made, true)
            {
                // A file that is too large is neither read nor hashed.
                let most = limits.page_bytes.get().min(visitor.memory());
                if size > most {
                    eprintln!("parley: {shown} has {size} bytes, a page at most {most} (PAGE_TOO_LARGE)");
                    return Ok(Some(Exit::Refused));
                }
                let content = std::fs::read(&self.file).with_context(|| shown.clone())?;
                let key = self.sealed.then(Key::new).transpose()?;
                let page = make(&content, self.head(), usize::try_from(limits.chunk_bytes.get())?, key.as_ref())?;
                if page.manifest.bytes > most {
                    eprintln!(
                        "parley: {shown} is too large to be sealed: a page has at most {most} bytes (PAGE_TOO_LARGE)"
                    );
                    return Ok(Some(Exit::Refused));
                }
                write(&format!("{}\n", PageUrl { host: Some(host.clone()), page: page.page, key }))?;
                visitor.hold(page);
            }
            log.update(visitor)?;
            Ok(visitor.pages.values().any(|page| page.refusal().is_some()).then_some(Exit::Refused))
        });
        let exit = ignore_broken_pipe(exit.await);
        visitor.leave().await;
        exit
    }

    fn head(&self) -> Head {
        let name = self.file.file_name().map(|name| name.to_string_lossy().chars().take(NAME_MAX).collect());
        Head { r#type: self.kind.clone().unwrap_or_else(|| type_of(&self.file).to_owned()), name }
    }
}

fn type_of(file: &Path) -> &'static str {
    let end = file.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let known = TYPES.iter().find(|(name, _)| *name == end);
    known.map_or("application/octet-stream", |(_, kind)| kind)
}

fn media_type(text: &str) -> anyhow::Result<String> {
    ensure!(text.parse::<MediaType>().is_ok(), "must be a media type in lower case, without parameters: text/html");
    Ok(text.to_owned())
}
