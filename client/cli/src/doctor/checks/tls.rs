//! The host accepts connections, and browsers trust its certificate.
use crate::connect::trust;
use crate::doctor::report::{CheckResult, Finding, rounded};
use crate::doctor::site::Site;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, Error};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// Automatic renewal happens a month before the end. With fewer days than this it failed.
const MIN_DAYS: f64 = 14.0;
const DAY: f64 = 86_400.0;

/// Connects, and checks the certificate.
pub async fn check(site: &Site) -> CheckResult {
    let (host, port) = site.host();
    let began = Instant::now();
    let tcp = site.connect.tcp(host, port).await.map_err(|why| {
        let advice = format!("Check that the edge runs and its load balancer is healthy, and let TCP {port} in to it.");
        Finding::fail(format!("no TCP connection to {host}:{port}: {why}"), advice)
    })?;
    if site.url.scheme() == "http" {
        return Ok(vec![if site.is_local() {
            Finding::ok("connected; http suffices on this machine").took(began.elapsed())
        } else {
            let advice = "Use https://, and give the edge a certificate (edge.tls): over http, browsers deny access \
                          to camera and microphone.";
            Finding::fail("connected, without TLS", advice)
        }]);
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(bare).map_err(|why| Finding::fail(why.to_string(), "Pass the name of a host."))?;
    let connector = TlsConnector::from(Arc::new(trust::accept_any_cert()));
    let tls = connector.connect(name.clone(), tcp).await.map_err(|why| {
        let advice = format!("Check what listens on port {port} of {host}: the edge supports TLS 1.2 and 1.3.");
        Finding::fail(format!("TLS failed: {why}"), advice)
    })?;
    let took = began.elapsed();
    let (_, session) = tls.get_ref();
    let chain = session.peer_certificates().unwrap_or_default();
    let summary = Summary::read(chain).ok_or_else(|| {
        Finding::fail(
            "its certificate is invalid",
            "Replace the edge's certificate (edge.tls): browsers refuse this one.",
        )
    })?;
    let finding = match site.connect.verify(chain, &name) {
        Err(_) if site.connect.is_insecure() => Finding::warn(
            format!("connected to {host}, {summary}, which browsers do not trust"),
            "Omit --insecure to see why.",
        ),
        Err(why) => Finding::fail(format!("{}: {summary}", reason(&why, host)), advice(&why, host)),
        Ok(()) if summary.days < MIN_DAYS => Finding::warn(
            format!("connected to {host}, {summary}"),
            "Renew the certificate now, and find out why it was not renewed: with cert-manager, `kubectl describe certificate`.",
        ),
        Ok(()) => Finding::ok(format!("connected to {host}, {summary}")),
    };
    Ok(vec![finding.took(took).figure("daysLeft", rounded(summary.days, 10.0))])
}

/// The content of a certificate.
struct Summary {
    names: Vec<String>,
    issuer: String,
    days: f64,
}

impl Summary {
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
        Some(Self { names: names.collect(), issuer: issuer.unwrap_or("an unnamed issuer").to_owned(), days })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, form: &mut std::fmt::Formatter) -> std::fmt::Result {
        let names = match self.names.as_slice() {
            [] => "no name".into(),
            [first] => first.clone(),
            [first, others @ ..] => format!("{first} and {} other names", others.len()),
        };
        write!(form, "a certificate for {names} by {}", self.issuer)?;
        match self.days {
            days if days < 0.0 => write!(form, " that expired {:.0} days ago", -days),
            days => write!(form, " with {days:.0} days left"),
        }
    }
}

/// Why browsers do not trust the certificate.
fn reason(why: &Error, host: &str) -> String {
    use CertificateError as Because;
    match why {
        Error::InvalidCertificate(Because::Expired | Because::ExpiredContext { .. }) => "it expired".into(),
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
            "Renew it: see the Secret named by edge.tls, or with cert-manager `kubectl describe certificate`.".into()
        }
        Error::InvalidCertificate(Because::NotValidYet | Because::NotValidYetContext { .. }) => {
            "Set the clock of this machine, or of the one that issued the certificate.".into()
        }
        Error::InvalidCertificate(Because::NotValidForName | Because::NotValidForNameContext { .. }) => {
            format!("Use one that names {host}, or check whether the name resolves to another server.")
        }
        _ => "Set edge.tls.source to Secret or CertManager with a certificate of a public CA, followed by its \
              intermediates; pass a private CA with --ca, or use --insecure."
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_of_a_certificate_has_a_reason_and_an_advice() {
        let of = |why| Error::InvalidCertificate(why);
        for (why, text, action) in [
            (of(CertificateError::Expired), "it expired", "Renew"),
            (of(CertificateError::NotValidYet), "not valid yet", "clock"),
            (of(CertificateError::NotValidForName), "not for h.example", "names h.example"),
            (of(CertificateError::UnknownIssuer), "no known CA", "--ca"),
            (of(CertificateError::BadSignature), "do not believe", "edge.tls"),
        ] {
            assert!(reason(&why, "h.example").contains(text), "{why}");
            assert!(advice(&why, "h.example").contains(action), "{why}");
        }
    }
}
