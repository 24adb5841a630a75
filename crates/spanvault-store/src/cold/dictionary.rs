//! Trains a dictionary, where one pays.

use std::io;

use zstd::bulk::Compressor;
use zstd::zstd_safe::get_frame_content_size;

use super::unpack::unpack;
use super::{LEVEL, Packing};
use crate::bytes::len_u64;

const DICTIONARY_BYTES_MAX: usize = 112 << 10;
/// A dictionary is packed once for thousands of originals.
const DICTIONARY_LEVEL: i32 = 19;
/// Fewer samples teach nothing.
const SAMPLES_MIN: usize = 16;

/// A dictionary as a pack has it.
pub(super) fn packed(dictionary: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(dictionary, DICTIONARY_LEVEL)
}

/// The dictionary that [`packed`] packed.
pub(super) fn unpacked(stored: &[u8]) -> Option<Vec<u8>> {
    let len = get_frame_content_size(stored).ok().flatten();
    let len = len.filter(|len| *len <= len_u64(DICTIONARY_BYTES_MAX))?;
    unpack(stored, len, None).ok()
}

/// A dictionary for originals like these samples, out of `total_bytes` to be packed; `None` where the originals
/// would not become smaller by more than the two copies of it take.
pub(crate) fn train(samples: &[Vec<u8>], total_bytes: u64, packing: Packing) -> Option<Vec<u8>> {
    if samples.len() < SAMPLES_MIN {
        return None;
    }
    // What a dictionary gains is measured on samples that it has not seen.
    let (seen, unseen): (Vec<_>, Vec<_>) =
        samples.iter().enumerate().partition(|(number, _)| number % 4 != 0);
    let seen: Vec<&[u8]> = seen.into_iter().map(|(_, sample)| sample.as_slice()).collect();
    let unseen: Vec<&[u8]> = unseen.into_iter().map(|(_, sample)| sample.as_slice()).collect();
    let seen_bytes: usize = seen.iter().map(|sample| sample.len()).sum();
    let dictionary = zstd::dict::from_samples(&seen, DICTIONARY_BYTES_MAX.min(seen_bytes / 8)).ok()?;

    let blocks = together(&unseen, packing.block_bytes());
    let without = compressed(&mut Compressor::new(LEVEL).ok()?, &blocks)?;
    let with = compressed(&mut Compressor::with_dictionary(LEVEL, &dictionary).ok()?, &blocks)?;
    let unseen_bytes: usize = unseen.iter().map(|sample| sample.len()).sum();
    let gain = u128::from(without.saturating_sub(with)) * u128::from(total_bytes);
    let price = 2 * packed(&dictionary).ok()?.len() as u128 * unseen_bytes as u128;
    (gain > price).then_some(dictionary)
}

/// Samples in blocks of up to `block_bytes`, as they would be packed.
fn together(samples: &[&[u8]], block_bytes: usize) -> Vec<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for sample in samples {
        match blocks.last_mut() {
            Some(block) if block.len() + sample.len() <= block_bytes => block.extend_from_slice(sample),
            _ => blocks.push(sample.to_vec()),
        }
    }
    blocks
}

fn compressed(compressor: &mut Compressor<'_>, blocks: &[Vec<u8>]) -> Option<u64> {
    blocks.iter().map(|block| Some(len_u64(compressor.compress(block).ok()?.len()))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_dictionary_is_made_only_where_it_pays() {
        let common = noise(0, 600);
        let alike: Vec<_> = (1..200).map(|seed| [noise(seed, 40), common.clone()].concat()).collect();
        let dictionary =
            train(&alike, 4 << 20, Packing::Single).expect("what all share need not be repeated");
        let mut with = Compressor::with_dictionary(LEVEL, &dictionary).unwrap();
        assert!(with.compress(&alike[7]).unwrap().len() < 200);
        assert_eq!(unpacked(&packed(&dictionary).unwrap()), Some(dictionary));
        assert_eq!(train(&alike, 1_000, Packing::Single), None, "too little to pay for a dictionary");
        assert_eq!(train(&alike, 100_000, Packing::Solid), None, "in a block they need none");

        let random: Vec<_> = (1..200).map(|seed| noise(seed, 640)).collect();
        assert_eq!(train(&random, 4 << 20, Packing::Single), None);
        assert_eq!(train(&alike[..4], 4 << 20, Packing::Single), None);
    }
}
