//! `parley region`: what an operator does with regions, at a pod (HOME-12 and HOME-15 of the protocol's `SPEC.md`).
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use crate::http;
use parley_protocol::routes;
use parley_protocol::shared::RegionList;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use url::Url;

/// Where `kubectl port-forward deployment/parley-signaling 8101` listens.
const FORWARDED: &str = "http://127.0.0.1:8101";

/// Commands about regions.
#[derive(Debug, clap::Subcommand)]
pub enum Region {
    /// Make a region answer for the named rooms of one that is lost, or for its own again
    Promote(Promote),
}

/// Promotes a region: `parley region promote us --for eu`, with a port forwarded to a pod of it. `promote eu --for eu` gives the rooms back.
#[derive(Debug, clap::Args)]
pub struct Promote {
    /// The region that takes over; the pod has to be of it
    #[arg(value_name = "REGION")]
    region: String,
    /// The region that the rooms are named after
    #[arg(long = "for", value_name = "REGION")]
    home: String,
    /// Regions that do not answer, of which you know that they do not use the lost one
    #[arg(long, value_delimiter = ',', value_name = "REGION,…")]
    without: Vec<String>,
    /// The port of a pod; it accepts this from its own addresses only, as `kubectl port-forward` does it
    #[arg(long, value_name = "URL", default_value = FORWARDED)]
    pod: Url,
}

#[derive(Serialize)]
struct Request<'a> {
    without: &'a [String],
}

#[derive(Deserialize)]
struct Answer {
    term: Option<u64>,
    refused: Option<String>,
    #[serde(default)]
    regions: Vec<String>,
}

impl Region {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let Region::Promote(promote) = self;
        crate::runtime::run(async { Ok(promote.run().await.unwrap_or_else(|end| end.report())) })
    }
}

impl Promote {
    /// Returns how it ended, or why there was no answer.
    async fn run(self) -> Result<Exit, ConnectionEnd> {
        let at = |path: &str| {
            let mut url = self.pod.clone();
            url.set_path(path);
            url
        };
        let list: RegionList = http::get(at(routes::LIST_REGIONS)).await?;
        let pod = &*list.region;
        if pod != self.region {
            return Err(ConnectionEnd::Refused(format!("{} is a pod of {pod}, not of {}", self.pod, self.region)));
        }
        let path = format!("/admin/homes/{}/promote", self.home);
        let answer: Answer = http::post_or_conflict(at(&path), &Request { without: &self.without }).await?;
        let Some(term) = answer.term else {
            let refused = answer.refused.unwrap_or_default();
            let advice = advice(&refused, &answer.regions.join(", "), &self.home);
            return Err(ConnectionEnd::Refused(format!("{refused}: {advice}")));
        };
        println!("{} answers for the rooms of {} from now on (term {term})", self.region, self.home);
        Ok(Exit::Done)
    }
}

fn advice(refused: &str, regions: &str, home: &str) -> String {
    match refused {
        "HOME_REACHABLE" => format!("{regions} still reaches {home}: repair the link, or stop what runs of {home}"),
        "REGION_SILENT" => format!(
            "{regions} does not answer and may reach {home}: repair that first, or pass --without {} if it is lost too",
            regions.replace(' ', "")
        ),
        "NOT_FOLLOWER" => format!("only {regions} has records of {home}: promote there"),
        "UNKNOWN_REGION" => format!("the list of regions has {regions}"),
        "ALREADY_HOME" => "it answers for these rooms already".into(),
        "NOT_FOLLOWED" => format!("it does not have everything of {regions} yet: repeat this in a few seconds"),
        "PROMOTED_ELSEWHERE" => {
            format!("{regions} was promoted for {home} at the same time, and answers for its rooms")
        }
        "STORE_UNAVAILABLE" => "JetStream did not answer, and may have written it: repeat this command, here".into(),
        _ => "the pod refused".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_12_home_15_home_16_a_refusal_says_what_to_do_with_which_regions() {
        let silent = advice("REGION_SILENT", "ap, sa", "eu");
        assert!(silent.contains("--without ap,sa"), "{silent}");
        assert!(advice("HOME_REACHABLE", "us", "eu").starts_with("us still reaches eu"));
        assert!(advice("NOT_FOLLOWED", "us", "eu").contains("everything of us yet"));
        assert!(advice("PROMOTED_ELSEWHERE", "us", "eu").starts_with("us was promoted for eu"));
    }
}
