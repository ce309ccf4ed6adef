//! What work costs, as `docs/evaluation` has it: on cores of a shared AMD EPYC that are slower than many. The test of this module compares
//! each with the published file.

/// What one person costs a service of a region without media (`make herd`, four-person calls).
pub struct Cost {
    /// Processor time of a join, with the messages by which the call is set up, in ms.
    pub join_ms: f64,
    /// Memory of a person, in KB.
    pub person_kb: f64,
}

/// Of all signaling pods.
pub const SIGNALING: Cost = Cost { join_ms: 4.21, person_kb: 21.8 };
/// Of all Envoys.
pub const EDGE: Cost = Cost { join_ms: 2.86, person_kb: 53.8 };
/// Of all servers.
pub const NATS: Cost = Cost { join_ms: 0.098, person_kb: 2.3 };

/// Cores per person who sends a message every 2 s, of all signaling pods and of all Envoys.
pub const STEADY: (f64, f64) = (13.8e-6, 10.0e-6);

/// Rooms through relays (`make bench-rooms`): people, cores of the relay for each, and its memory for each in MB. Each sends a picture and receives
/// those of others: all in the smaller rooms, 16 small ones from 50 on.
pub const ROOMS: &[(u32, f64, f64)] =
    &[(10, 8.50e-3, 1.18), (20, 11.9e-3, 1.43), (50, 7.25e-3, 1.07), (100, 4.92e-3, 1.08)];

/// Processor time for each GB that goes to watchers of live video, in s, and memory for each, in KB (`make bench-media`, 1 to 100).
pub const WATCHER: (f64, f64) = (7.73, 222.0);

/// Processor time for each GB that goes to readers of a stream, in s, and memory for each, in KB (`make bench-streams`, 1 to 100; 10,000 sockets).
pub const READER: (f64, f64) = (1.48, 1.76);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn published(name: &str) -> Value {
        let path = format!("{}/../../docs/evaluation/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn number(value: &Value, pointer: &str) -> f64 {
        value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}"))
    }

    /// Published figures have three digits.
    fn is_about(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 0.01, "{one} is not {other}");
    }

    fn parley<'a>(rows: &'a Value, name: &str) -> &'a Value {
        let row = rows.as_array().unwrap().iter().find(|row| row["row"]["name"] == name).unwrap();
        row["results"].as_array().unwrap().iter().find(|result| result["server"] == "parley").unwrap()
    }

    #[test]
    fn the_costs_of_people_are_those_of_the_herd() {
        let seed = published("herd-seed");
        let joins_per_ms = number(&seed, "/steadyJoins") / number(&seed, "/use/wallMs");
        for (name, cost) in [("pods", SIGNALING), ("Envoy", EDGE), ("NATS", NATS)] {
            is_about(cost.join_ms, number(&seed, &format!("/use/cores/{name}")) / joins_per_ms);
            is_about(cost.person_kb, number(&seed, &format!("/grownKb/{name}")) / number(&seed, "/participants"));
        }
        let region = published("herd-region");
        let people = number(&region, "/profile/people");
        is_about(STEADY.0, number(&region, "/use/steady/cores/pods") / people);
        is_about(STEADY.1, number(&region, "/use/steady/cores/Envoy") / people);
    }

    #[test]
    fn the_costs_of_media_are_those_of_the_benches() {
        let rooms = published("bench-rooms");
        let one_relay = |people: u32| {
            let rows = rooms["scaled"].as_array().unwrap();
            rows.iter().find(|row| row["step"]["participants"] == people && row["step"]["relays"] == 1).unwrap()
        };
        let idle = number(one_relay(2), "/outcome/uses/0/residentMb");
        for (people, cores, mb) in ROOMS {
            let row = one_relay(*people);
            is_about(*cores, number(row, "/outcome/uses/0/cpu") / f64::from(*people));
            is_about(*mb, (number(row, "/outcome/uses/0/residentMb") - idle) / f64::from(*people - 2));
        }
        let media = published("bench-media");
        is_about(WATCHER.0, number(parley(&media["rows"], "video-1-to-100"), "/cost/median"));
        is_about(WATCHER.1, number(&media, "/memory/1/kbPerWatcher"));
        let streams = published("bench-streams");
        is_about(READER.0, number(parley(&streams["rows"], "video-1-to-100"), "/cost/median"));
        is_about(READER.1, number(&streams, "/idle/1/kbPerSocket"));
    }
}
