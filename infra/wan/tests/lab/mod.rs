//! Two network namespaces and a link between them, deleted with the values that own them.
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

pub const PORT: u16 = 7000;

/// Longer than any packet takes.
const SILENCE: Duration = Duration::from_millis(400);

pub struct Lab {
    name: String,
}

impl Lab {
    pub fn new(name: &str) -> Self {
        assert!(rustix::process::geteuid().is_root(), "these tests make network namespaces: run them as root");
        let lab = Self { name: format!("wan{}-{name}", std::process::id()) };
        for end in ["a", "b"] {
            ip(&["netns", "add", &lab.namespace(end)]);
        }
        lab
    }

    fn namespace(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    pub fn end(&self, end: &str) -> String {
        format!("{},wan0,{}/30", self.namespace(end), self.address(end).ip())
    }

    pub fn address(&self, end: &str) -> SocketAddr {
        let last = if end == "a" { 1 } else { 2 };
        ([10, 80, 0, last], PORT).into()
    }

    /// A socket in that namespace. A receiver gets an error when nothing arrives for a while.
    pub fn socket(&self, end: &str) -> UdpSocket {
        let entry = File::open(format!("/run/netns/{}", self.namespace(end))).unwrap();
        let address = self.address(end);
        let opened = thread::spawn(move || {
            move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            UdpSocket::bind(address).unwrap()
        });
        let socket = opened.join().unwrap();
        socket.set_read_timeout(Some(SILENCE)).unwrap();
        socket
    }

    /// The output of `ip link` there.
    pub fn devices(&self, end: &str) -> String {
        self.inside(end, &["ip", "link"])
    }

    /// What a command writes there.
    pub fn inside(&self, end: &str, command: &[&str]) -> String {
        let namespace = format!("--net=/run/netns/{}", self.namespace(end));
        let output = Command::new("nsenter").arg(namespace).args(command).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self) -> Command {
        Command::new(env!("CARGO_BIN_EXE_wan-link"))
    }

    /// A link that is ready.
    pub fn link(&self, flags: &[&str]) -> Link {
        let mut command = self.command();
        command.args(["--a", &self.end("a"), "--b", &self.end("b")]).args(flags);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, complaints) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let mut link = Link { child, out: BufReader::new(out), complaints: BufReader::new(complaints) };
        assert_eq!(link.read_line(), json!({ "ready": true, "realtime": true }));
        link
    }

    /// What it complains of on its way to a failure.
    pub fn refused(&self, flags: &[&str]) -> String {
        let output = self.command().args(["--b", &self.end("b")]).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for end in ["a", "b"] {
            ip(&["netns", "del", &self.namespace(end)]);
        }
    }
}

fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().unwrap().success(), "ip {arguments:?}");
}

pub struct Link {
    child: Child,
    out: BufReader<ChildStdout>,
    complaints: BufReader<ChildStderr>,
}

impl Link {
    /// Writes a line that changes it.
    pub fn command(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        // It is read some microseconds later, without an acknowledgement.
        thread::sleep(Duration::from_millis(50));
    }

    fn read_line(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not ready: {line:?}, {}", self.error()))
    }

    pub fn error(&mut self) -> String {
        let mut line = String::new();
        self.complaints.read_line(&mut line).unwrap();
        line.trim().into()
    }

    /// Ends its stdin; what it has counted.
    pub fn end(&mut self) -> Value {
        drop(self.child.stdin.take());
        self.ended()
    }

    pub fn signal(&mut self, name: &str) -> Value {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        self.ended()
    }

    /// Waits for its end; the exit code.
    pub fn status(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    fn ended(&mut self) -> Value {
        let counts = self.read_line();
        assert_eq!(self.status(), Some(0));
        counts
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
