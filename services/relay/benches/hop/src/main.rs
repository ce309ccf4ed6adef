//! Sends paced messages from one process to another over each transport in turn, and prints the cost. Each payload has a
//! timestamp; the receiver counts messages and measures their age.
//!
//! `cargo run --release` in this folder; `NATS_SERVER` names the binary, `HOP_SECONDS` and `HOP_ROUNDS` the length.
mod link;
mod load;
mod nats;
mod quic;

use anyhow::{Context, bail, ensure};
use load::{Load, Report};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TRANSPORTS: [&str; 4] = ["link", "tcp", "nats", "quic"];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => compare(),
        [end, transport, address, load, certificate] => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(one(end, transport, address.parse()?, Load::read(load)?, Path::new(certificate)))
        }
        _ => bail!("no arguments: each process is started by the first"),
    }
}

async fn one(end: &str, transport: &str, at: SocketAddr, load: Load, certificate: &Path) -> anyhow::Result<()> {
    let report = match (end, transport) {
        ("send", "link") => link::send(at, load, certificate).await?,
        ("receive", "link") => link::receive(at, certificate).await?,
        ("send", "tcp") => link::send_plain(at, load).await?,
        ("receive", "tcp") => link::receive_plain(at).await?,
        ("send", "nats") => nats::send(at, load).await?,
        ("receive", "nats") => nats::receive(at, load).await?,
        ("send", "quic") => quic::send(at, load, certificate).await?,
        ("receive", "quic") => quic::receive(at, load, certificate).await?,
        _ => bail!("{end} {transport}"),
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// Transports alternate within a round, so that load on the machine affects all of them.
fn compare() -> anyhow::Result<()> {
    let number = |name: &str, default: u32| std::env::var(name).map_or(Ok(default), |value| value.parse());
    let (seconds, rounds) = (number("HOP_SECONDS", 10)?, number("HOP_ROUNDS", 3)?.max(1));
    let loads = [
        ("200 x 1.1 Mbit/s", Load { topics: 200, per_second: 30, bytes: 4600, seconds }),
        ("50 x 1.1 Mbit/s", Load { topics: 50, per_second: 30, bytes: 4600, seconds }),
        ("100 B, 20,000 a second", Load { topics: 200, per_second: 100, bytes: 100, seconds }),
    ];
    println!("| load | transport | delivered | CPU s per GB | µs per message | least to most | p50 ms | p99 ms |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, load) in loads {
        let mut reports: [Vec<Report>; TRANSPORTS.len()] = Default::default();
        for _ in 0..rounds {
            for (transport, reports) in TRANSPORTS.into_iter().zip(&mut reports) {
                reports.push(run(transport, load)?);
            }
        }
        for (transport, reports) in TRANSPORTS.into_iter().zip(reports) {
            print(name, transport, load, &reports);
        }
    }
    Ok(())
}

/// Prints the median of each figure over the rounds, and the range of processor time.
fn print(name: &str, transport: &str, load: Load, reports: &[Report]) {
    let sorted = |figure: fn(&Report) -> f64| {
        let mut figures: Vec<f64> = reports.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        (figures[0], figures[figures.len() / 2], figures[figures.len() - 1])
    };
    let sent = f64::from(load.messages());
    let ((least, cpu, most), (came, ..)) = (sorted(|one| one.cpu), sorted(|one| f64::from(one.messages)));
    let ((_, p50, _), (_, p99, _)) = (sorted(|one| one.p50), sorted(|one| one.p99));
    let each = 1e6 / sent;
    println!(
        "| {name} | {transport} | {:.3} | {:.2} | {:.1} | {:.1} to {:.1} | {p50:.2} | {p99:.2} |",
        came / sent,
        cpu * 1e9 / sent / f64::from(load.bytes),
        cpu * each,
        least * each,
        most * each,
    );
}

/// Runs both ends, and the server between them if there is one. Returns the report of the receiver with the processor time of all processes.
fn run(transport: &str, load: Load) -> anyhow::Result<Report> {
    let at = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let certificate = std::env::temp_dir().join(format!("parley-hop-{}.der", std::process::id()));
    let _ = std::fs::remove_file(&certificate);
    let server = (transport == "nats").then(|| nats::server(at)).transpose()?;
    let process = |end: &str| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([end, transport, &at.to_string(), &load.text()]).arg(&certificate);
        command.stdout(Stdio::piped()).spawn()
    };
    let (sender, receiver) = (process("send")?, process("receive")?);
    let (sent, mut received) = (report(sender)?, report(receiver)?);
    received.cpu += sent.cpu;
    if let Some(mut server) = server {
        received.cpu += load::cpu(&server.id().to_string())?;
        server.kill()?;
        server.wait()?;
    }
    let _ = std::fs::remove_file(&certificate);
    Ok(received)
}

fn report(process: Child) -> anyhow::Result<Report> {
    let output = process.wait_with_output()?;
    ensure!(output.status.success(), "an end failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("an end said nothing")
}

/// Retries until the other end is ready.
async fn retry<T, E>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..100 {
        if let Ok(done) = attempt().await {
            return Ok(done);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    attempt().await
}
