//! A load that cannot run ends with a sentence and exit code 1.
use super::parley::run;

async fn is_refused(arguments: &[&str], sentence: &str) {
    let output = run(arguments).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && errors.contains(sentence), "{output:?}");
}

#[tokio::test]
async fn a_url_without_the_scheme_ws_is_refused() {
    is_refused(&["streams", "--url", "wss://127.0.0.1"], "is not ws://HOST:PORT").await;
}

#[tokio::test]
async fn a_flag_out_of_its_range_is_refused() {
    for (flag, sentence) in [
        ("--bytes=31", "--bytes must be at least 32"),
        ("--readers=0", "--topics and --readers must be at least 1"),
        ("--rate=-1", "--rate must be 0 or more"),
        ("--seconds=0", "--seconds must be at least 0.1"),
    ] {
        is_refused(&["streams", "--url", "ws://127.0.0.1:1", flag], sentence).await;
    }
}
