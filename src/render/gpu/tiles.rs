//! The order in which pixels become paths: small square tiles, for coherent rays.

/// Pixels of a tile's side: a tile is one workgroup of the kernels.
const SIDE: u32 = 8;

/// The pixels of a `width`×`height` image as `[column, row]`, tile after tile, each once.
pub(super) fn tiled_pixels(width: u32, height: u32) -> impl Iterator<Item = [u32; 2]> {
    let starts = |length: u32| (0..length).step_by(SIDE as usize);
    starts(height).flat_map(move |top| {
        starts(width).flat_map(move |left| {
            let rows = top..height.min(top + SIDE);
            rows.flat_map(move |y| (left..width.min(left + SIDE)).map(move |x| [x, y]))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_comes_once() {
        for (width, height) in [(1, 1), (8, 8), (17, 9), (3, 30)] {
            let mut pixels: Vec<_> = tiled_pixels(width, height).collect();
            pixels.sort_unstable();
            let all: Vec<_> = (0..width).flat_map(|x| (0..height).map(move |y| [x, y])).collect();
            assert_eq!(pixels, all);
        }
    }

    #[test]
    fn a_whole_tile_fills_a_workgroup() {
        let first: Vec<_> = tiled_pixels(100, 100).take(64).collect();
        assert!(first.iter().all(|&[x, y]| x < 8 && y < 8));
    }
}
