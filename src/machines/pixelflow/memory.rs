//! The pixel memory of a region: some bytes for each of its pixels.

use super::widths::Width;

/// Bytes of a pixel that the simulation has room for. The hardware has 256; a shader that needs
/// more is run nevertheless, so that the image shows what it computes.
pub const MOST_BYTES: u32 = 8192;

/// A value in pixel memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The first byte.
    pub first: u32,
    /// The number of bytes, and whether loading extends the sign.
    pub width: Width,
}

/// More bytes than [`MOST_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The memory of some pixels, byte by byte: a byte of all pixels, then the next.
#[derive(Clone, Debug)]
pub struct Memory {
    pixels: usize,
    bytes: Vec<u8>,
}

impl Memory {
    /// Memory for so many pixels.
    pub fn new(pixels: usize) -> Self {
        Self { pixels, bytes: Vec::new() }
    }

    /// Makes sure that there are so many bytes a pixel.
    ///
    /// # Errors
    /// When these are more than [`MOST_BYTES`].
    pub fn reserve(&mut self, bytes: u32) -> Result<(), TooLarge> {
        if bytes > MOST_BYTES {
            return Err(TooLarge);
        }
        let needed = bytes as usize * self.pixels;
        if needed > self.bytes.len() {
            self.bytes.resize(needed, 0);
        }
        Ok(())
    }

    /// The bytes a pixel that were asked for.
    pub fn used(&self) -> u32 {
        self.bytes.len().checked_div(self.pixels).unwrap_or(0) as u32
    }

    /// The word of one pixel.
    pub fn get(&self, from: Address, pixel: u32) -> u32 {
        let mut word = 0u32;
        let count = u32::from(from.width.bytes);
        for k in 0..count {
            let at = (from.first + k) as usize * self.pixels + pixel as usize;
            word |= u32::from(self.bytes.get(at).copied().unwrap_or(0)) << (8 * k);
        }
        let unused = 32 - 8 * count;
        if from.width.signed { ((word << unused) as i32 >> unused) as u32 } else { word }
    }

    /// Writes the lower bytes of a word to one pixel.
    pub fn set(&mut self, to: Address, pixel: u32, word: u32) {
        for k in 0..u32::from(to.width.bytes) {
            let at = (to.first + k) as usize * self.pixels + pixel as usize;
            if let Some(byte) = self.bytes.get_mut(at) {
                *byte = (word >> (8 * k)) as u8;
            }
        }
    }

    /// The words of some pixels.
    pub fn load(&self, from: Address, pixels: &[u32]) -> Vec<u32> {
        pixels.iter().map(|&p| self.get(from, p)).collect()
    }

    /// Writes words to some pixels.
    pub fn store(&mut self, to: Address, pixels: &[u32], words: &[u32]) {
        pixels.iter().zip(words).for_each(|(&p, &w)| self.set(to, p, w));
    }
}
