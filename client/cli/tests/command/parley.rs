//! The command under test.
use super::relay::DEADLINE;
use std::pin::pin;
use std::process::{Output, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A running command, with pipes for input and output.
pub struct Parley(pub Child);

/// Sends a signal to one process.
pub fn signal(child: &Child, name: &str) {
    kill(child.id().expect("it ended"), name);
}

fn kill(pid: u32, name: &str) {
    let arguments = [format!("-{name}"), pid.to_string()];
    assert!(std::process::Command::new("kill").args(arguments).status().unwrap().success());
}

/// Starts the command.
pub fn start(arguments: &[&str]) -> Parley {
    start_with(arguments, &[])
}

/// Starts the command with environment variables.
pub fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Parley {
    let mut command = Command::new(super::PROGRAM);
    command
        .args(arguments)
        .env_remove("PARLEY_TOKEN")
        .env_remove("PARLEY_TOKEN_SECRET")
        .env_remove("PARLEY_OWNER_KEY")
        .envs(environment.iter().copied())
        .kill_on_drop(true);
    Parley(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Runs the command to its end.
pub async fn run(arguments: &[&str]) -> Output {
    start(arguments).end().await
}

impl Parley {
    pub async fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).await.unwrap();
    }

    /// Writes to the input of a command that may end in the meantime.
    pub async fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let stdin = self.0.stdin.as_mut().unwrap();
        timeout(DEADLINE, async { stdin.write_all(bytes).await.and(stdin.flush().await) }).await.unwrap()
    }

    /// Reads exactly this many bytes of its output.
    pub async fn read(&mut self, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        let stdout = self.0.stdout.as_mut().unwrap();
        timeout(DEADLINE, stdout.read_exact(&mut bytes)).await.expect("too little output").unwrap();
        bytes
    }

    /// Waits for the next line on standard error that contains a text.
    pub async fn complains(&mut self, part: &str) -> String {
        let mut lines = BufReader::new(self.0.stderr.as_mut().unwrap()).lines();
        let found = async {
            loop {
                let line = lines.next_line().await.unwrap().expect("it ended");
                if line.contains(part) {
                    return line;
                }
            }
        };
        timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("never: {part}"))
    }

    /// Closes its input and waits for its end.
    pub async fn end(mut self) -> Output {
        drop(self.0.stdin.take());
        self.ended().await
    }

    /// Waits for its end and returns its output. A command that does not end is killed, and its errors are shown.
    async fn ended(self) -> Output {
        let pid = self.0.id();
        let mut output = pin!(self.0.wait_with_output());
        if let Ok(output) = timeout(DEADLINE, &mut output).await {
            return output.unwrap();
        }
        kill(pid.expect("it ended"), "KILL");
        panic!("it does not end:\n{}", String::from_utf8_lossy(&output.await.unwrap().stderr));
    }

    /// Reads the next line of its output.
    pub async fn line(&mut self) -> String {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            line.extend(self.read(1).await);
        }
        String::from_utf8(line).unwrap()
    }

    /// Interrupts the command as Ctrl-C does.
    pub async fn interrupt(self) -> Output {
        signal(&self.0, "INT");
        self.ended().await
    }
}
