//! Where samples lie in the picture. Integer hashing, so that every machine draws the same.

use glam::Vec2;

/// Which samples a picture takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Strata a pixel in x and y, each with one sample.
    pub strata: [u32; 2],
    /// Changes every jitter.
    pub seed: u32,
}

impl Sampling {
    /// Samples a pixel.
    pub fn count(&self) -> u32 {
        self.strata[0] * self.strata[1]
    }

    /// Raster position of sample `index` of pixel `(x, y)`: jittered within its stratum (Cook, Porter, Carpenter 1984); the
    /// middle of the pixel when there is one sample.
    pub fn position(&self, x: u32, y: u32, index: u32) -> Vec2 {
        let corner = Vec2::new(x as f32, y as f32);
        if self.count() <= 1 {
            return corner + 0.5;
        }
        let [nx, ny] = self.strata;
        let key = hash(x ^ hash(y ^ hash(index ^ hash(self.seed))));
        let jitter = Vec2::new(unit(key), unit(hash(key)));
        let stratum = Vec2::new((index % nx) as f32, (index / nx) as f32);
        corner + (stratum + jitter) / Vec2::new(nx as f32, ny as f32)
    }

    /// The strata of `count` samples: as square as its factors allow.
    pub fn strata_of(count: u32) -> [u32; 2] {
        let mut ny = (f64::from(count)).sqrt() as u32;
        while ny > 1 && !count.is_multiple_of(ny) {
            ny -= 1;
        }
        [count / ny.max(1), ny.max(1)]
    }
}

/// A 32-bit mix with full avalanche ("lowbias32" of Wellons, 2018).
fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The high 24 bits as a float in [0, 1).
fn unit(x: u32) -> f32 {
    (x >> 8) as f32 / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_lies_in_its_own_stratum() {
        let sampling = Sampling { strata: [4, 2], seed: 7 };
        for index in 0..8 {
            let p = sampling.position(3, 5, index) - Vec2::new(3.0, 5.0);
            assert_eq!(((p.x * 4.0) as u32, (p.y * 2.0) as u32), (index % 4, index / 4));
        }
    }

    #[test]
    fn one_sample_is_in_the_middle() {
        let sampling = Sampling { strata: [1, 1], seed: 7 };
        assert_eq!(sampling.position(1, 2, 0), Vec2::new(1.5, 2.5));
    }

    #[test]
    fn strata_multiply_to_the_count() {
        for (count, strata) in [(1, [1, 1]), (4, [2, 2]), (6, [3, 2]), (7, [7, 1]), (16, [4, 4])] {
            assert_eq!(Sampling::strata_of(count), strata);
        }
    }
}
