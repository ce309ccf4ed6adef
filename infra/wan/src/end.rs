//! An end of the link: a TUN device in a network namespace.
use anyhow::{Context, bail};
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::ffi::c_int;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::str::FromStr;
use std::thread;

/// What is left of 1500 in most tunnels.
const MTU: &str = "1400";
/// The kernel's names of devices have a zero at their end.
const MAX_NAME_BYTES: usize = 15;

/// Where a device is made, and its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    namespace: String,
    device: String,
    /// With the length of its network's prefix.
    address: String,
}

impl FromStr for End {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("{why} in {text}; an end is like home,wan0,10.80.0.1/30"));
        let [namespace, device, address] = text.split(',').collect::<Vec<_>>()[..] else {
            return refused("not three parts");
        };
        if namespace.is_empty() || namespace.contains('/') {
            return refused("no name of a namespace");
        }
        if device.is_empty() || device.len() > MAX_NAME_BYTES || device.contains(['/', ' ', ':', '%']) {
            return refused("no name of a device (1 to 15 characters)");
        }
        let (ip, bits) = address.split_once('/').unwrap_or_default();
        if ip.parse::<Ipv4Addr>().is_err() || !bits.parse().is_ok_and(|bits: u8| bits <= 32) {
            return refused("no IPv4 address with the length of its prefix");
        }
        Ok(Self { namespace: namespace.into(), device: device.into(), address: address.into() })
    }
}

impl End {
    /// Makes the device; it is there as long as the file is. Each read and write is one IP packet.
    pub fn open(&self) -> anyhow::Result<File> {
        // A namespace is entered by a thread, which keeps it: this one ends.
        let opened = thread::scope(|scope| scope.spawn(|| self.open_in_namespace()).join());
        let opened = opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        opened.with_context(|| format!("device {} in namespace {}", self.device, self.namespace))
    }

    fn open_in_namespace(&self) -> anyhow::Result<File> {
        let Self { namespace, device, address } = self;
        let entry =
            File::open(format!("/run/netns/{namespace}")).context("no such namespace: `ip netns add` makes one")?;
        move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).context("entering the namespace")?;
        let file = File::options().read(true).write(true).open("/dev/net/tun").context("/dev/net/tun")?;
        make_tun(&file, device).context("making it")?;
        ip(&["addr", "add", address, "dev", device])?;
        // Otherwise IPv6 solicits routers, and the link loses packets that no test sent. A kernel without IPv6 sends none.
        let _without_ipv6 = ip(&["link", "set", device, "addrgenmode", "none"]);
        ip(&["link", "set", device, "mtu", MTU, "txqueuelen", "1000", "up"])?;
        Ok(file)
    }
}

/// `struct ifreq` of netdevice(7), as TUNSETIFF reads and writes it.
#[repr(C)]
struct Request {
    name: [u8; MAX_NAME_BYTES + 1],
    flags: u16,
    rest: [u8; 22],
}

/// Packets alone, without a header of the kernel's.
const IFF_TUN_NO_PI: u16 = 0x1001;
const TUNSETIFF: Opcode = opcode::write::<c_int>(b'T', 202);

#[allow(unsafe_code, reason = "this system call has no safe form")]
fn make_tun(file: &File, device: &str) -> rustix::io::Result<()> {
    let mut request = Request { name: [0; MAX_NAME_BYTES + 1], flags: IFF_TUN_NO_PI, rest: [0; 22] };
    request.name[..device.len()].copy_from_slice(device.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, 40 bytes, which `Request` is; every content of it is valid.
    unsafe { ioctl(file, Updater::<TUNSETIFF, Request>::new(&mut request)) }
}

/// Runs `ip` in this thread's namespace; its complaint is the error.
fn ip(arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(arguments).output().context("ip (iproute2) does not run")?;
    if !output.status.success() {
        bail!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_namespace_a_device_and_an_address() {
        let end: End = "home,wan0,10.80.0.1/30".parse().unwrap();
        let [namespace, device, address] = ["home", "wan0", "10.80.0.1/30"].map(String::from);
        assert_eq!(end, End { namespace, device, address });
    }

    #[test]
    fn what_is_wrong_with_an_end_is_said() {
        for (text, why) in [
            ("home,wan0", "not three parts"),
            ("home,wan0,10.80.0.1/30,x", "not three parts"),
            (",wan0,10.80.0.1/30", "no name of a namespace"),
            ("../x,wan0,10.80.0.1/30", "no name of a namespace"),
            ("home,,10.80.0.1/30", "no name of a device"),
            ("home,a-name-too-long0,10.80.0.1/30", "no name of a device"),
            ("home,wan%d,10.80.0.1/30", "no name of a device"),
            ("home,wan0,10.80.0.1", "no IPv4 address"),
            ("home,wan0,10.80.0.256/30", "no IPv4 address"),
            ("home,wan0,10.80.0.1/33", "no IPv4 address"),
            ("home,wan0,fd00::1/64", "no IPv4 address"),
        ] {
            let refused = text.parse::<End>().unwrap_err();
            assert!(refused.starts_with(why) && refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn the_kernel_reads_forty_bytes() {
        assert_eq!(size_of::<Request>(), 40);
        assert_eq!(TUNSETIFF, 0x4004_54ca);
    }
}
