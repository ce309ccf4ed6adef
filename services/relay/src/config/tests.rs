use super::*;
use parley_cluster::endpoint::Role;
use parley_media::Certificates;

fn settings(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Settings, String> {
    let arguments = ["parley-relay"].iter().chain(arguments).map(OsString::from);
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    read(arguments, environment).map_err(|refused| refused.to_string())
}

fn file(text: &str) -> (tempfile::Path, Vec<String>) {
    let path = tempfile::write(text);
    let arguments = vec!["--config".to_owned(), path.0.display().to_string()];
    (path, arguments)
}

mod tempfile {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};
    static LAST: AtomicU32 = AtomicU32::new(0);

    pub(super) struct Path(pub(super) PathBuf);

    pub(super) fn write(text: &str) -> Path {
        let name = format!("parley-relay-{}-{}.toml", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Path(path)
    }

    impl Drop for Path {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

#[test]
fn str_80_nothing_set_is_the_defaults() {
    let settings = settings(&[], &[("PATH", "/bin"), ("PARLEY_POD", "other service")]).unwrap();
    assert_eq!((settings.listen.to_string(), settings.ops_listen), ("0.0.0.0:8111".into(), None));
    assert_eq!((settings.origins, settings.stats, settings.limits), (Origins::Any, true, Limits::default()));
}

#[test]
fn str_80_a_flag_goes_before_the_environment_and_that_before_the_file() {
    let (_kept, mut arguments) =
        file("listen = '1.1.1.1:1'\nthreads = 3\ntrusted-proxies = 1\n[limits]\n'pod.topics' = 5\n'pod.sockets' = 6\n");
    let environment =
        [("PARLEY_RELAY_LISTEN", "2.2.2.2:2"), ("PARLEY_RELAY_THREADS", "4"), ("PARLEY_RELAY_LIMIT_POD_TOPICS", "7")];
    arguments.extend(["--listen=3.3.3.3:3".into(), "--limit".into(), "address.sockets=8".into()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let settings = settings(&arguments, &environment).unwrap();
    assert_eq!(settings.listen.to_string(), "3.3.3.3:3");
    assert_eq!((settings.threads, settings.trusted_proxies), (4, 1));
    assert_eq!((settings.limits.pod_topics, settings.limits.pod_sockets, settings.limits.address_sockets), (7, 6, 8));
}

#[test]
fn str_80_values_of_every_type_are_read_from_the_file() {
    let (_kept, arguments) = file(
        "threads = 3\nstats = false\norigins = ['https://a.example', 'https://b.example']\nlog-level = 'debug'\n\
         replay = { '/out/a,b/' = 20, '/chat' = 5 }\n",
    );
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let read = settings(&arguments, &[]).unwrap();
    assert_eq!((read.threads, read.stats, read.log_level), (3, false, tracing::Level::DEBUG));
    assert_eq!(read.origins, Origins::Only(vec!["https://a.example".into(), "https://b.example".into()]));
    let replay: Vec<_> = read.replay.iter().map(|rule| (&*rule.prefix, rule.messages)).collect();
    assert_eq!(replay, [("/chat", 5), ("/out/a,b/", 20)]);
    let environment = [("PARLEY_RELAY_STATS", "on"), ("PARLEY_RELAY_REPLAY", "/x=1")];
    let read = settings(&arguments, &environment).unwrap();
    assert_eq!((read.stats, read.replay.len(), &*read.replay[0].prefix), (true, 1, "/x"));
}

#[test]
fn str_81_a_value_of_another_type_in_the_file_is_refused_with_its_line() {
    for (text, sentence) in [
        ("stats = true\nlisten = 8111\n", "line 2"),
        ("threads = 'many'\n", "line 1"),
        ("threads = 257\n", "threads must be 0 to 256, not 257"),
        ("lisen = 'x'\n", "unknown field `lisen`"),
    ] {
        let (_kept, arguments) = file(text);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = settings(&arguments, &[]).unwrap_err();
        assert!(refused.contains(sentence), "{text}: {refused}");
    }
}

#[test]
fn str_80_the_help_shows_no_value_of_the_environment_or_the_file() {
    let (_kept, mut arguments) = file("zone = 'from-the-file'\n");
    arguments.push("--help".into());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let help = settings(&arguments, &[("PARLEY_RELAY_NATS_PASSWORD", "hidden")]).unwrap_err();
    assert!(help.contains("Relays stream topics over WebSocket") && help.contains("--media-listen"), "{help}");
    assert!(!help.contains("hidden") && !help.contains("from-the-file"), "{help}");
}

#[test]
fn str_80_a_password_of_digits_stays_text() {
    let flags = ["--nats=nats://one:4222", "--link-listen=127.0.0.1:0", "--nats-user=relay"];
    for password in ["012345", "true", "1e3"] {
        let cluster = settings(&flags, &[("PARLEY_RELAY_NATS_PASSWORD", password)]).unwrap().cluster.unwrap();
        assert_eq!(cluster.nats.login.map(|(_, read)| read.0), Some(password.to_owned()));
    }
}

#[test]
fn str_81_an_unknown_name_is_refused_wherever_it_stands() {
    assert!(settings(&["--lisen", "x"], &[]).unwrap_err().contains("--lisen"));
    assert_eq!(settings(&[], &[("PARLEY_RELAY_LISEN", "x")]).unwrap_err(), "unknown PARLEY_RELAY_LISEN");
    assert!(settings(&["--limit", "pod.sokets=1"], &[]).unwrap_err().contains("pod.sokets"));
    for text in ["lisen = 'x'", "[limit]\n", "[limits]\n'pod.sokets' = 1"] {
        let (_kept, arguments) = file(text);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert!(settings(&arguments, &[]).is_err(), "{text}");
    }
}

#[test]
fn str_81_a_value_that_is_none_is_refused_with_a_sentence() {
    let cases = [
        ("--listen=8111", "listen must be ADDRESS:PORT"),
        ("--ops-listen=8113", "ops-listen must be ADDRESS:PORT"),
        ("--threads=many", "threads must be 0 to 256"),
        ("--threads=257", "threads must be 0 to 256"),
        ("--trusted-proxies=11", "trusted-proxies must be 0 to 10"),
        ("--origins=lab.example", "an origin is"),
        ("--origins=https://lab.example/", "an origin is"),
        ("--replay=/lab", "replay must be PREFIX=N"),
        ("--replay=/in/lab=3", "replay: /in/lab must"),
        ("--stats=maybe", "stats must be on or off"),
        ("--log-level=loud", "log-level is not known: loud"),
        ("--limit=pod.sockets", "limit must be NAME=VALUE"),
        ("--config=/does/not/exist", "cannot be read"),
    ];
    for (flag, sentence) in cases {
        assert!(settings(&[flag], &[]).unwrap_err().contains(sentence), "{flag}");
    }
}

#[test]
fn str_50_replay_is_named_by_prefix() {
    let rules = settings(&["--replay=/out/lab/=20, /chat=5"], &[]).unwrap().replay;
    assert_eq!(
        rules.iter().map(|rule| (&*rule.prefix, rule.messages)).collect::<Vec<_>>(),
        [("/out/lab/", 20), ("/chat", 5)]
    );
}

#[test]
fn str_80_as_many_threads_as_processors_relay_unless_a_number_is_set() {
    let processors = std::thread::available_parallelism().unwrap().get();
    for (flag, expected) in [("--threads=0", processors), ("--threads=1", 1), ("--threads=2", 2)] {
        let settings = settings(&[flag], &[]).unwrap();
        assert_eq!(settings.threads, expected, "{flag}");
        assert_eq!(runtime(&settings).unwrap().metrics().num_workers(), expected, "{flag}");
    }
}

#[test]
fn str_90_without_nats_a_relay_is_alone_and_with_it_has_a_place_among_others() {
    assert!(settings(&["--region=east", "--pod=a"], &[]).unwrap().cluster.is_none());
    let flags = ["--nats=nats://one:4222,two:4222", "--link-advertise=10.0.0.7:8112", "--pod=a", "--region=east"];
    let login = [("PARLEY_RELAY_NATS_USER", "relay"), ("PARLEY_RELAY_NATS_PASSWORD", "hidden")];
    let settings = settings(&flags, &login).unwrap();
    assert!(!format!("{settings:?}").contains("hidden"));
    let cluster = settings.cluster.unwrap();
    assert_eq!((cluster.listen.port(), cluster.region, cluster.zone), (8112, "east".into(), "local".into()));
    assert_eq!(cluster.nats.login.map(|(user, password)| (user, password.0)), Some(("relay".into(), "hidden".into())));
    let (_kept, arguments) = file("nats = 'nats://one:4222'\nlink-listen = '127.0.0.1:0'\nregion = 'west'\n");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(
        super::tests::settings(&arguments, &[]).unwrap().cluster.map(|cluster| cluster.region),
        Some("west".into())
    );
}

#[test]
fn str_139_a_relay_has_no_part_in_links_between_regions_unless_they_reach_it() {
    let flags = ["--nats=nats://one:4222", "--link-listen=127.0.0.1:0", "--region=eu"];
    let public = |more: &[&str]| settings(&[&flags, more].concat(), &[]).unwrap().cluster.unwrap().public;
    assert!(public(&[]).is_none());
    let named = public(&["--link-advertise-public=relay-0.eu.example:8114"]).unwrap();
    assert_eq!(named.listen, "0.0.0.0:8114".parse().unwrap());
    assert_eq!(named.advertise.as_deref(), Some("relay-0.eu.example:8114"));
    for (given, advertised) in [
        ("[2001:db8::7]:8114", "[2001:db8::7]:8114"),
        ("[192.0.2.7]:8114", "192.0.2.7:8114"),
        ("192.0.2.7:8114", "192.0.2.7:8114"),
    ] {
        let named = public(&[&format!("--link-advertise-public={given}")]).unwrap();
        assert_eq!(named.advertise.as_deref(), Some(advertised));
    }
    let listens = public(&["--link-listen-public=192.0.2.7:8114"]).unwrap();
    assert_eq!((listens.listen, listens.advertise), ("192.0.2.7:8114".parse().unwrap(), None));
}

#[test]
fn str_81_settings_among_other_pods_that_do_not_go_together_are_refused_with_a_sentence() {
    let nats = "--nats=nats://127.0.0.1:4222";
    let cases = [
        (vec![nats], "link-advertise must say where other pods reach link-listen"),
        (vec![nats, "--link-listen=8112"], "link-listen must be ADDRESS:PORT"),
        (vec![nats, "--link-advertise=relay:8112"], "link-advertise must be ADDRESS:PORT"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--region=a.b"], "region must be letters, digits"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--region=a_b"], "region must be letters, digits and -"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--nats-user=x"], "must be set together"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--nats-password=x", "--nats-password-file=y"], "set twice"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--nats-user=x", "--nats-password-file=/none"], "cannot be read"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--nats-ca=/none"], "/none cannot be read"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--nats-ca=Cargo.toml"], "nats-ca: Cargo.toml holds no certificate"),
        (vec![nats, "--link-listen=127.0.0.1:0", "--pod=a.b"], "pod must be letters, digits"),
        (vec!["--media-listen=127.0.0.1:0", "--media-hosts=*"], "media-hosts must be names"),
        (vec!["--nats=nats://relay:secret@one:4222", "--link-listen=127.0.0.1:0"], "nats must not name a user"),
        (vec!["--nats=nats://:x", "--link-listen=127.0.0.1:0"], "nats must be nats://HOST:PORT"),
        (vec!["--link-listen=127.0.0.1:0"], "link-listen needs nats"),
        (vec!["--link-advertise-public=a.example:8114"], "link-advertise-public needs nats"),
        (
            vec![nats, "--link-listen=127.0.0.1:0", "--link-listen-public=0.0.0.0:8114"],
            "link-advertise-public must say where other regions reach",
        ),
        (
            vec![nats, "--link-listen=127.0.0.1:0", "--link-advertise-public=a.example"],
            "link-advertise-public must be HOST:PORT",
        ),
        (
            vec![nats, "--link-listen=127.0.0.1:0", "--link-advertise-public=2001:db8::7:8114"],
            "link-advertise-public must be HOST:PORT",
        ),
        (
            vec![
                nats,
                "--link-listen=127.0.0.1:0",
                "--link-advertise-public=a.example:8114",
                "--region=aaaaaaaaaaaaaaaaa",
            ],
            "region must have at most 16",
        ),
    ];
    for (flags, sentence) in cases {
        let refused = settings(&flags, &[]).unwrap_err();
        assert!(refused.contains(sentence), "{flags:?}: {refused}");
    }
    let long = format!("--pod={}", "x".repeat(129));
    assert!(settings(&[nats, "--link-listen=127.0.0.1:0", &long], &[]).unwrap_err().contains("pod must be letters"));
    assert!(settings(&["--limit=link.idleTimeout=1500"], &[]).unwrap_err().contains("at least twice"));
}

const SET: &str = r#"{"active": "a", "keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

#[test]
fn media_1_without_media_listen_a_relay_carries_no_media_and_on_this_machine_it_needs_nothing_else() {
    assert!(settings(&[], &[]).unwrap().media.is_none());
    let media = settings(&["--media-listen=127.0.0.1:8141"], &[]).unwrap().media.unwrap();
    assert_eq!(
        (media.websocket, media.role, media.certificates),
        (media.listen, Role::Origin, Certificates::Pinned(None))
    );
    assert!(media.url.is_none() && media.advertise.is_none() && media.keys.is_none());
    let (_kept, arguments) = file(
        "nats = 'nats://one:4222'\nlink-advertise = '10.0.0.7:8112'\nmedia-listen = '0.0.0.0:4443'\nmedia-role = 'leaf'\n\
         media-url = 'https://a.example:4443/'\nmedia-certificate = 'a.pem'\nmedia-key = 'b.pem'\n\
         media-websocket-listen = '0.0.0.0:8114'\n",
    );
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let environment = [("PARLEY_RELAY_MEDIA_ADVERTISE", "10.0.0.7:4443")];
    let media = settings(&arguments, &environment).unwrap().media.unwrap();
    assert_eq!(
        (media.role, media.websocket.port(), media.advertise.map(|at| at.port())),
        (Role::Leaf, 8114, Some(4443))
    );
    assert_eq!(media.url.map(String::from), Some("https://a.example:4443/".into()));
    assert_eq!(media.certificates, Certificates::Public { certificate: "a.pem".into(), key: "b.pem".into() });
}

#[test]
fn media_4_media_asks_for_tokens_where_there_are_keys_for_it_though_streams_are_open() {
    let (set, _) = file(SET);
    let path = set.0.display().to_string();
    let given = settings(&["--media-listen=127.0.0.1:0", "--media-keys", &path], &[]).unwrap();
    let given_files = given.key_files.clone();
    assert!(given.access.is_none() && given.media.unwrap().keys.is_some());
    let shared = settings(&["--media-listen=127.0.0.1:0", "--access=token", "--keys", &path], &[]).unwrap();
    let shared_files = shared.key_files.clone();
    assert!(shared.media.unwrap().keys.is_some());
    for settings in [&given_files, &shared_files] {
        let [file] = settings.as_slice() else { panic!("{settings:?}") };
        assert_eq!((file.path.as_str(), file.keys.ids()), (path.as_str(), vec!["a".into()]));
    }
}

#[test]
fn str_81_settings_of_media_that_do_not_go_together_are_refused_with_a_sentence() {
    let (here, nats) = ("--media-listen=127.0.0.1:0", "--nats=nats://127.0.0.1:4222");
    let (everywhere, url) = ("--media-listen=0.0.0.0:4443", "--media-url=https://a.example/");
    let cases = [
        (vec!["--media-listen=4443"], "media-listen must be ADDRESS:PORT"),
        (vec!["--media-url=https://a.example/"], "media-url needs media-listen"),
        (vec!["--media-keys=x"], "media-keys needs media-listen"),
        (vec![everywhere], "media-url must say where clients reach 0.0.0.0:4443"),
        (vec![here, "--media-url=http://a.example/"], "media-url must be https://HOST:PORT/"),
        (vec![here, "--media-url=https://a.example/x"], "media-url must be https://HOST:PORT/"),
        (vec![everywhere, url, nats, "--link-listen=127.0.0.1:0"], "media-advertise must say where other pods reach"),
        (vec![here, "--media-advertise=10.0.0.7:1"], "media-advertise needs nats"),
        (vec![here, "--media-role=hub"], "media-role must be origin or leaf, not hub"),
        (vec![here, "--media-role=leaf"], "media-role leaf needs nats"),
        (vec![here, "--media-traces-url=collector:4318"], "media-traces-url must be like http://HOST:4318/v1/traces"),
        (vec![here, "--media-key=a"], "media-certificate and media-key must be set together"),
        (
            vec![here, "--media-key=a", "--media-certificate=b", "--media-certificate-dir=c"],
            "media-certificate-dir is for",
        ),
        (vec![here, "--media-keys=/does/not/exist"], "cannot be read"),
        (vec![here, "--media-websocket-listen=x"], "media-websocket-listen must be"),
    ];
    for (flags, sentence) in cases {
        let refused = settings(&flags, &[]).unwrap_err();
        assert!(refused.contains(sentence), "{flags:?}: {refused}");
    }
}
