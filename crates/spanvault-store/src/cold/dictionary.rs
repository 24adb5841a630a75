//! Trains a dictionary, where one pays.

use zstd::bulk::Compressor;

use super::LEVEL;

const DICTIONARY_BYTES_MAX: usize = 64 << 10;
/// Fewer samples teach nothing.
const SAMPLES_MIN: usize = 16;

/// A dictionary for originals like these samples, out of `total_bytes` to be packed; `None` where the originals
/// would not become smaller by more than the two copies of it take.
pub(crate) fn train(samples: &[Vec<u8>], total_bytes: u64) -> Option<Vec<u8>> {
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

    let without = compressed(&mut Compressor::new(LEVEL).ok()?, &unseen)?;
    let with = compressed(&mut Compressor::with_dictionary(LEVEL, &dictionary).ok()?, &unseen)?;
    let unseen_bytes: usize = unseen.iter().map(|sample| sample.len()).sum();
    let gain = u128::from(without.saturating_sub(with)) * u128::from(total_bytes);
    let price = 2 * dictionary.len() as u128 * unseen_bytes as u128;
    (gain > price).then_some(dictionary)
}

fn compressed(compressor: &mut Compressor<'_>, samples: &[&[u8]]) -> Option<u64> {
    samples.iter().map(|sample| Some(compressor.compress(sample).ok()?.len() as u64)).sum()
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
        let dictionary = train(&alike, 4 << 20).expect("what all share need not be repeated");
        let mut with = Compressor::with_dictionary(LEVEL, &dictionary).unwrap();
        assert!(with.compress(&alike[7]).unwrap().len() < 200);
        assert_eq!(train(&alike, 1_000), None, "too little to pay for a dictionary");

        let random: Vec<_> = (1..200).map(|seed| noise(seed, 640)).collect();
        assert_eq!(train(&random, 4 << 20), None);
        assert_eq!(train(&alike[..4], 4 << 20), None);
    }
}
