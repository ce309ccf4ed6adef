//! Relays in several regions: their topics are one. All share one NATS server, as gateways join those of regions.
use super::messages::all_clients_send;
use super::nats::Nats;
use super::pod::{Client, DEADLINE, Pod};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// The flags of a relay that other regions reach.
pub const PUBLIC: &[&str] = &["--link-listen-public=127.0.0.1:0"];

/// The relays of one region.
pub struct Region {
    pub pods: Vec<Pod>,
}

/// Starts relays, so many in each region, and waits until all are linked.
pub async fn start(nats: &Nats, regions: &[(&str, usize)], flags: &[&str]) -> Vec<Region> {
    let mut started = Vec::new();
    for (region, count) in regions {
        let mut pods = Vec::new();
        for at in 0..*count {
            pods.push(join(nats, region, at, flags).await);
        }
        started.push(Region { pods });
    }
    linked(&started).await;
    started
}

/// Starts the relay of this number.
pub async fn join(nats: &Nats, region: &str, at: usize, flags: &[&str]) -> Pod {
    let place = [&format!("--pod=p{at}")[..], &format!("--region={region}")].map(str::to_owned);
    let own: Vec<&str> = place.iter().map(String::as_str).collect();
    Pod::start(nats, &[&own, flags].concat()).await
}

/// Waits until each relay is linked to every other of its region, and to every one of other regions, in both directions.
pub async fn linked(regions: &[Region]) {
    let all: u64 = regions.iter().map(|region| region.pods.len() as u64).sum();
    for region in regions {
        let near = region.pods.len() as u64;
        for pod in &region.pods {
            for (name, count) in [("links", near - 1), ("ocean_links", all - near)] {
                pod.until(&format!("{name}_receiving"), |links| links == count).await;
                pod.until(&format!("{name}_sending"), |links| links == count).await;
            }
        }
    }
}

/// The sum of a metric over pods.
pub async fn sum(pods: impl IntoIterator<Item = &Pod>, name: &str) -> u64 {
    let mut sum = 0;
    for pod in pods {
        sum += pod.metric(name).await;
    }
    sum
}

/// Sends until each reader receives a message, as nothing says when the other regions have subscribed; then until each has received all of them.
pub async fn reached(camera: &mut Client, readers: &mut [Client]) {
    for reader in readers.iter_mut() {
        let reaching = async {
            loop {
                camera.send_text("reached?").await;
                if timeout(Duration::from_millis(50), reader.receive_text()).await.is_ok() {
                    return;
                }
            }
        };
        timeout(DEADLINE, reaching).await.expect("a reader is never reached");
    }
    camera.send_text("reached").await;
    for reader in readers {
        while reader.receive_text().await != "reached" {}
    }
}

#[tokio::test]
async fn str_140_readers_in_all_regions_receive_each_message_once_in_order_text_and_binary() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2)], PUBLIC).await;
    let mut readers = Vec::new();
    for pod in regions.iter().flat_map(|region| &region.pods) {
        readers.push(pod.join("/out/lab").await);
        readers.push(pod.join("/out/lab").await);
    }
    let mut cameras = Vec::new();
    for pod in regions.iter().flat_map(|region| &region.pods) {
        let mut camera = pod.join("/in/lab").await;
        reached(&mut camera, &mut readers).await;
        cameras.push(camera);
    }
    for number in 0..100_u8 {
        for (at, camera) in cameras.iter_mut().enumerate() {
            match number % 2 {
                0 => camera.send_text(&format!("{at} {number}")).await,
                _ => camera.send(Message::binary(vec![at as u8, number])).await,
            }
        }
    }
    for reader in &mut readers {
        let mut newest: HashMap<u8, u8> = HashMap::new();
        for _ in 0..400 {
            let (camera, number) = match reader.receive().await {
                Message::Text(text) => {
                    let (camera, number) = text.split_once(' ').unwrap();
                    let number: u8 = number.parse().unwrap();
                    assert_eq!(number % 2, 0);
                    (camera.parse().unwrap(), number)
                }
                Message::Binary(bytes) => (bytes[0], bytes[1]),
                other => panic!("{other:?}"),
            };
            let expected = newest.insert(camera, number).map_or(0, |before| before + 1);
            assert_eq!(number, expected, "of camera {camera}");
        }
    }
    // A duplicate would arrive before this one.
    for (at, camera) in cameras.iter_mut().enumerate() {
        camera.send_text(&format!("end {at}")).await;
    }
    for reader in &mut readers {
        for _ in 0..4 {
            assert!(reader.receive().await.to_text().unwrap().starts_with("end"));
        }
    }
}

#[tokio::test]
async fn str_142_clients_of_all_regions_that_send_at_once_receive_all_others_once_in_order() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2)], &[PUBLIC, &["--threads=2"]].concat()).await;
    let mut clients = Vec::new();
    for pod in regions.iter().flat_map(|region| &region.pods) {
        clients.extend([pod.join("/talk").await, pod.join("/talk").await]);
    }
    for _ in 0..clients.len() {
        let mut speaker = clients.remove(0);
        reached(&mut speaker, &mut clients).await;
        clients.push(speaker);
    }
    all_clients_send(clients).await;
}

#[tokio::test]
async fn str_97_the_links_to_a_region_that_was_silent_end_and_are_dialled_again() {
    let nats = Nats::start().await;
    let flags =
        [PUBLIC, &["--limit=link.idleTimeout=2000", "--limit=lease.interval=100", "--limit=lease.duration=300"]];
    let regions = start(&nats, &[("eu", 1), ("us", 1)], &flags.concat()).await;
    let [here, there] = [0, 1].map(|at| &regions[at].pods[0]);
    let mut camera = here.join("/in/lab").await;
    let mut readers = [there.join("/out/lab").await];
    reached(&mut camera, &mut readers).await;
    there.signal("STOP");
    here.until("ocean_links_sending", |links| links == 0).await;
    here.until("ocean_links_receiving", |links| links == 0).await;
    there.signal("CONT");
    linked(&regions).await;
    reached(&mut camera, &mut readers).await;
}
