//! Processor time and memory of a process, from `/proc`: proc(5).
use anyhow::Context;
use serde::Serialize;

/// Clock ticks per second in `/proc`: the same on every Linux, as user space sees it.
const TICKS: f64 = 100.0;

/// Memory of a process.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Resident memory, in kB.
    pub resident_kb: u64,
    /// The peak of its resident memory, in kB.
    pub peak_kb: u64,
}

/// The processor seconds of all threads of all these processes.
pub fn total_cpu(pids: &[u32]) -> anyhow::Result<f64> {
    pids.iter().map(|pid| cpu(*pid)).sum()
}

/// The resident memory of all these processes, in kB.
pub fn total_resident_kb(pids: &[u32]) -> anyhow::Result<u64> {
    pids.iter().map(|pid| memory(*pid).map(|memory| memory.resident_kb)).sum()
}

/// The processor seconds of the generator.
pub fn own_cpu() -> anyhow::Result<f64> {
    cpu(std::process::id())
}

/// The processor seconds of all threads of a process: to the nanosecond where the kernel reports it, else to a hundredth of a second.
fn cpu(pid: u32) -> anyhow::Result<f64> {
    scheduled(pid).map_or_else(|| ticks(pid), Ok)
}

/// What the scheduler counted for the living threads. It does not count threads that ended: the threads of a measured server live as long as
/// the server.
#[allow(clippy::cast_precision_loss, reason = "the nanoseconds of years fit")]
fn scheduled(pid: u32) -> Option<f64> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split(' ').next()?.parse::<u64>().ok()?;
    }
    (nanoseconds > 0).then_some(nanoseconds as f64 / 1e9)
}

fn ticks(pid: u32) -> anyhow::Result<f64> {
    let text = read(pid, "stat")?;
    // The name of the command, in parentheses, may contain any character: fields are counted after it.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).context("/proc/PID/stat is not as proc(5) says")?;
    Ok((f64::from(user) + f64::from(system)) / TICKS)
}

/// Memory of a process.
pub fn memory(pid: u32) -> anyhow::Result<Memory> {
    let text = read(pid, "status")?;
    let row = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
            .with_context(|| format!("/proc/{pid}/status has no {name}"))
    };
    Ok(Memory { resident_kb: row("VmRSS:")?, peak_kb: row("VmHWM:")? })
}

fn read(pid: u32, file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(format!("/proc/{pid}/{file}")).with_context(|| format!("process {pid} cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn processor_time_increases_as_it_is_used() {
        let own = std::process::id();
        let (before, until) = (cpu(own).unwrap(), Instant::now() + Duration::from_secs(20));
        while cpu(own).unwrap() < before + 0.05 {
            assert!(Instant::now() < until, "never");
        }
        assert!(scheduled(own).is_none_or(|seconds| (seconds - ticks(own).unwrap()).abs() < 1.0));
    }

    #[test]
    fn the_error_for_a_missing_process_names_its_pid() {
        assert_eq!(cpu(u32::MAX).unwrap_err().to_string(), format!("process {} cannot be read", u32::MAX));
        let memory = memory(std::process::id()).unwrap();
        assert!(memory.resident_kb > 100 && memory.peak_kb >= memory.resident_kb);
    }
}
