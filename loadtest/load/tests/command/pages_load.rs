//! `parley-load pages`.
use super::parley::run;
use super::site::Site;
use serde_json::Value;

async fn report(site: &Site, more: &[&str]) -> (Option<i32>, Value) {
    let fixed = ["pages", &site.host, "--per-second", "500", "--for", "0.2", "--json", "-"];
    let output = run(&[&fixed[..], more].concat()).await;
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

#[tokio::test]
async fn page_8_all_visitors_receive_the_exact_count_also_after_some_leave() {
    let site = Site::start().await;
    let pid = std::process::id().to_string();
    let flags = ["--holders", "40", "--readers", "10", "--depart", "5", "--pid", &pid];
    let (code, report) = report(&site, &flags).await;
    assert_eq!((code, &report["exact"]), (Some(0), &true.into()), "{report}");
    let (came, went) = (&report["came"], &report["went"]);
    assert_eq!((&came["visitors"], &came["late"], &came["never"]), (&50.into(), &0.into(), &0.into()), "{report}");
    assert_eq!((&went["visitors"], &went["never"]), (&45.into(), &0.into()), "{report}");
    assert!(came["received"].as_f64() > Some(10.0) && came["sent"].as_f64() >= Some(1.0), "{report}");
    let memory = |field: &str| report["memory"][field].as_u64();
    assert!(memory("beforeKb") > Some(0) && memory("withKb") > Some(0) && memory("afterKb") > Some(0), "{report}");
    assert!(report["stayed"]["seconds"].as_f64() >= Some(0.2) && report["stayed"]["received"] == 0.0, "{report}");
}

#[tokio::test]
async fn page_8_a_wrong_count_is_detected() {
    let site = Site::start().await;
    site.miscount();
    let (code, report) = report(&site, &["--holders", "4", "--late", "100"]).await;
    assert_eq!((code, &report["came"]["never"], &report["exact"]), (Some(4), &4.into(), &false.into()), "{report}");
}

#[tokio::test]
async fn a_service_that_does_not_listen_is_reported() {
    let output = run(&["pages", "http://127.0.0.1:1", "--holders", "2", "--for", "0", "--json", "-"]).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((output.status.code(), &report["came"]["visitors"]), (Some(4), &0.into()), "{report}");
    assert_eq!(report["errors"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>(), 2, "{report}");
}
