//! Removes the mask of a client. RFC 6455 section 5.3.
use bytes::{BufMut, BytesMut};

/// Appends `masked` to `out` without its mask. `position`: the offset within the frame.
pub(crate) fn append_unmasked(out: &mut BytesMut, masked: &[u8], mask: [u8; 4], position: usize) {
    let start = out.len();
    out.reserve(masked.len());
    out.put_slice(masked);
    unmask(&mut out[start..], mask, position);
}

fn unmask(bytes: &mut [u8], mask: [u8; 4], position: usize) {
    let mut turned = mask;
    turned.rotate_left(position % 4);
    let word = u32::from_ne_bytes(turned);
    let wide = u64::from(word) << 32 | u64::from(word);
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Ok(eight) = <[u8; 8]>::try_from(&*chunk) {
            chunk.copy_from_slice(&(u64::from_ne_bytes(eight) ^ wide).to_ne_bytes());
        }
    }
    for (byte, key) in chunks.into_remainder().iter_mut().zip(turned.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmasking_in_parts_equals_unmasking_byte_by_byte() {
        let mask = [0x37, 0xfa, 0x21, 0x3d];
        let masked: Vec<u8> = (0..100u8).collect();
        let plain: Vec<u8> = masked.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
        for cut in 0..masked.len() {
            let mut out = BytesMut::new();
            append_unmasked(&mut out, &masked[..cut], mask, 0);
            append_unmasked(&mut out, &masked[cut..], mask, cut);
            assert_eq!(out, plain, "cut at {cut}");
        }
    }
}
