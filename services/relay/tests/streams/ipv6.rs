//! Clients over IPv6 and over both families.
use super::pod::start;
use super::raw::{Raw, UPGRADE};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::{TcpSocket, TcpStream};

#[tokio::test]
async fn str_147_a_stream_over_ipv6() {
    let pod = start(&["--listen=[::1]:0"]).await;
    assert!(pod.0.address.is_ipv6());
    let (mut camera, mut reader) = (pod.join("/in/lab").await, pod.join("/out/lab").await);
    pod.until_clients(2).await;
    camera.send_text("over IPv6").await;
    assert_eq!(reader.receive_text().await, "over IPv6");
}

/// Asks for a socket, and returns the connection with the status of the answer.
async fn upgrade(at: SocketAddr, forwarded: &str) -> (Raw, u16) {
    upgrade_over(TcpStream::connect(at).await.unwrap(), forwarded).await
}

/// As `upgrade`, from another address of this machine.
async fn upgrade_from(from: IpAddr, at: SocketAddr) -> (Raw, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    upgrade_over(socket.connect(at).await.unwrap(), "").await
}

async fn upgrade_over(stream: TcpStream, forwarded: &str) -> (Raw, u16) {
    let mut raw = Raw(stream);
    let forwarded = if forwarded.is_empty() { String::new() } else { format!("X-Forwarded-For: {forwarded}\r\n") };
    let head = format!("GET /demo HTTP/1.1\r\n{UPGRADE}{forwarded}\r\n");
    raw.write(head.as_bytes()).await;
    let status = raw.head().await.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (raw, status)
}

#[tokio::test]
async fn str_147_str_130_all_addresses_of_both_families_and_an_ipv4_client_counts_for_its_ipv4_address() {
    let pod = start(&["--listen=[::]:0", "--limit=address.sockets=1"]).await;
    let port = pod.0.address.port();
    let at = |ip: IpAddr| SocketAddr::from((ip, port));
    let (four, six) = (at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into()));
    let (_of_four, status) = upgrade(four, "").await;
    assert_eq!(status, 101);
    // Mapped into IPv6, all IPv4 addresses would be of one /64, and ::1 too.
    let (_of_six, status) = upgrade(six, "").await;
    assert_eq!(status, 101);
    let (_of_other, status) = upgrade_from([127, 0, 0, 2].into(), four).await;
    assert_eq!(status, 101);
    for again in [four, six] {
        assert_eq!(upgrade(again, "").await.1, 429, "{again}");
    }
}

#[tokio::test]
async fn str_130_behind_a_proxy_the_64_bits_of_an_ipv6_client_count_in_every_spelling() {
    let pod = start(&["--listen=[::1]:0", "--trusted-proxies=1", "--limit=address.sockets=1"]).await;
    let at = pod.0.address;
    let (_first, status) = upgrade(at, "6.6.6.6, 2001:db8:1:2::9").await;
    assert_eq!(status, 101);
    for same in ["2001:db8:1:2:ffff::1", "2001:DB8:0001:0002::1", "[2001:db8:1:2::7]:4711"] {
        assert_eq!(upgrade(at, same).await.1, 429, "{same}");
    }
    let (_next, status) = upgrade(at, "2001:db8:1:3::9").await;
    assert_eq!(status, 101);
}
