//! It takes connections, and a browser believes its certificate.
use crate::doctor::report::{Finding, Looked, rounded};
use crate::doctor::site::Site;
use crate::reach::trust;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, Error};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// CAs that renew by themselves do so a month before; with less than this nobody does.
const RENEWED_DAYS: f64 = 14.0;
const DAY: f64 = 86_400.0;

/// Connects, and looks at the certificate.
pub async fn look(site: &Site) -> Looked {
    let (host, port) = site.host();
    let began = Instant::now();
    let tcp = site.reach.tcp(host, port).await.map_err(|why| {
        let advice = format!("See whether the edge runs and has a healthy load balancer, and let TCP {port} in to it.");
        Finding::fail(format!("no TCP connection to {host}:{port}: {why}"), advice)
    })?;
    if site.url.scheme() == "http" {
        return Ok(vec![if site.is_here() {
            Finding::ok("connected; http is enough on this machine itself").took(began.elapsed())
        } else {
            let advice = "Check https://, and give the edge a certificate (edge.tls): over http browsers hand out no \
                          camera and no microphone.";
            Finding::fail("connected, without TLS", advice)
        }]);
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(bare).map_err(|why| Finding::fail(why.to_string(), "Give a host by its name."))?;
    let connector = TlsConnector::from(Arc::new(trust::anybody()));
    let tls = connector.connect(name.clone(), tcp).await.map_err(|why| {
        let advice =
            format!("See what listens on port {port} of {host}: it does not speak TLS 1.2 or 1.3 as the edge does.");
        Finding::fail(format!("no TLS: {why}"), advice)
    })?;
    let took = began.elapsed();
    let (_, session) = tls.get_ref();
    let chain = session.peer_certificates().unwrap_or_default();
    let shown = Shown::read(chain).ok_or_else(|| {
        Finding::fail(
            "its certificate cannot be read",
            "Replace the edge's certificate (edge.tls): browsers refuse this one.",
        )
    })?;
    let finding = match site.reach.vouch(chain, &name) {
        Err(_) if site.reach.is_insecure() => Finding::warn(
            format!("connected to {host}, {shown}, which nobody vouches for"),
            "Leave --insecure out to see whether browsers would believe it.",
        ),
        Err(why) => Finding::fail(format!("{}: {shown}", refused(&why, host)), advice(&why, host)),
        Ok(()) if shown.days < RENEWED_DAYS => Finding::warn(
            format!("connected to {host}, {shown}"),
            "Renew the certificate now, and find out why it was not: `kubectl describe certificate` where cert-manager is to.",
        ),
        Ok(()) => Finding::ok(format!("connected to {host}, {shown}")),
    };
    Ok(vec![finding.took(took).figure("daysLeft", rounded(shown.days, 10.0))])
}

/// What a certificate says.
struct Shown {
    names: Vec<String>,
    issuer: String,
    days: f64,
}

impl Shown {
    #[allow(clippy::cast_precision_loss, reason = "seconds since 1970")]
    fn read(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let (_, own) = X509Certificate::from_der(chain.first()?).ok()?;
        let names = own.subject_alternative_name().ok().flatten().map(|names| &names.value.general_names);
        let names = names.into_iter().flatten().filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            GeneralName::IPAddress(bytes) => match *bytes {
                [a, b, c, d] => Some(std::net::Ipv4Addr::new(*a, *b, *c, *d).to_string()),
                bytes => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string()),
            },
            _ => None,
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
        let days = (own.validity().not_after.timestamp() as f64 - now) / DAY;
        let issuer = own.issuer().iter_common_name().next().and_then(|name| name.as_str().ok());
        Some(Self { names: names.collect(), issuer: issuer.unwrap_or("nobody").to_owned(), days })
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, form: &mut std::fmt::Formatter) -> std::fmt::Result {
        let names = match self.names.as_slice() {
            [] => "no name".into(),
            [first] => first.clone(),
            [first, others @ ..] => format!("{first} and {} other names", others.len()),
        };
        write!(form, "a certificate for {names} by {}", self.issuer)?;
        match self.days {
            days if days < 0.0 => write!(form, " that ended {:.0} days ago", -days),
            days => write!(form, " with {days:.0} days left"),
        }
    }
}

/// Why browsers would not believe it.
fn refused(why: &Error, host: &str) -> String {
    use CertificateError as Because;
    match why {
        Error::InvalidCertificate(Because::Expired | Because::ExpiredContext { .. }) => "it is over".into(),
        Error::InvalidCertificate(Because::NotValidYet | Because::NotValidYetContext { .. }) => {
            "it is not valid yet".into()
        }
        Error::InvalidCertificate(Because::NotValidForName | Because::NotValidForNameContext { .. }) => {
            format!("it is not for {host}")
        }
        Error::InvalidCertificate(Because::UnknownIssuer) => "no known CA signed it".into(),
        other => format!("browsers do not believe it ({other})"),
    }
}

fn advice(why: &Error, host: &str) -> String {
    use CertificateError as Because;
    match why {
        Error::InvalidCertificate(Because::Expired | Because::ExpiredContext { .. }) => {
            "Renew it: the Secret named by edge.tls, or what cert-manager says to `kubectl describe certificate`.".into()
        }
        Error::InvalidCertificate(Because::NotValidYet | Because::NotValidYetContext { .. }) => {
            "Set this machine's clock, or that of whoever made the certificate.".into()
        }
        Error::InvalidCertificate(Because::NotValidForName | Because::NotValidForNameContext { .. }) => {
            format!("Get one that names {host}; or see whether that name leads to another server.")
        }
        _ => "Set edge.tls.source to Secret or CertManager with a certificate of a public CA, and its intermediates behind \
              it; name a private one with --ca, or go on with --insecure."
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_told_with_what_to_do() {
        let of = |why| Error::InvalidCertificate(why);
        for (why, said, told) in [
            (of(CertificateError::Expired), "is over", "Renew"),
            (of(CertificateError::NotValidYet), "not valid yet", "clock"),
            (of(CertificateError::NotValidForName), "not for h.example", "names h.example"),
            (of(CertificateError::UnknownIssuer), "no known CA", "--ca"),
            (of(CertificateError::BadSignature), "do not believe", "edge.tls"),
        ] {
            assert!(refused(&why, "h.example").contains(said), "{why}");
            assert!(advice(&why, "h.example").contains(told), "{why}");
        }
    }
}
