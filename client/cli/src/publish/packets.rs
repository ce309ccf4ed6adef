//! The clock of MPEG-TS (ISO/IEC 13818-1).
use std::time::Duration;

/// The size of a packet.
pub const PACKET: usize = 188;
const SYNC: u8 = 0x47;
/// The units of the clock in a second, without its extension.
const SCALE: u64 = 90_000;

/// Whether an input is MPEG-TS.
pub fn is_mpeg_ts(input: &[u8]) -> bool {
    !input.is_empty() && input.iter().step_by(PACKET).all(|byte| *byte == SYNC)
}

/// The last clock reference in complete packets. If there are several programs, it is that of any of them.
pub fn clock(packets: &[u8]) -> Option<Duration> {
    packets.chunks_exact(PACKET).filter_map(reference).next_back()
}

fn reference(packet: &[u8]) -> Option<Duration> {
    let has_reference = packet[3] & 0x20 != 0 && packet[4] >= 7 && packet[5] & 0x10 != 0;
    let base = packet[6..11].iter().fold(0, |base, byte| base << 8 | u64::from(*byte)) >> 7;
    has_reference.then(|| parley_containers::boxes::seconds(base, SCALE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_reference_is_found() {
        let mut packet = [0xff; PACKET];
        packet[..6].copy_from_slice(&[SYNC, 0x01, 0x00, 0x30, 7, 0x10]);
        // 90000 * 2 = 0x2BF20 in 33 bits, and 6 reserved bits before the extension.
        packet[6..12].copy_from_slice(&[0x00, 0x01, 0x5f, 0x90, 0x7e, 0x00]);
        let plain = [&[SYNC, 0x01, 0x00, 0x10][..], &[0; PACKET - 4]].concat();
        assert_eq!(clock(&[&packet[..], &plain].concat()), Some(Duration::from_secs(2)));
        assert_eq!(clock(&plain), None);
        assert!(is_mpeg_ts(&packet) && is_mpeg_ts(&[&packet[..], &plain].concat()) && is_mpeg_ts(&packet[..40]));
        assert!(!is_mpeg_ts(b"") && !is_mpeg_ts(&[&packet[..], b"G"].concat()[1..]));
    }
}
