//! The analytical model of the peripheral with a grid (Ullner 1983, §2.3.4).
//!
//! It takes a few numbers of a scene and a hardware model and gives what a ray costs for a number
//! of cells on each axis of the grid. Lengths are in units of the modeling space, times in
//! microseconds.

/// A scene on a hardware model, as the estimate sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scene {
    /// `n_p`: polygons in the scene.
    pub polygons: f64,
    /// `a_t`: area of the surfaces, without details smaller than cells, in squares of the side of
    /// the modeling space.
    pub area: f64,
    /// `d_r`: how far rays go before they hit a surface, in sides of the modeling space.
    pub distance: f64,
    /// `t_d`: time to move to the next cell, in µs.
    pub step: f64,
    /// `t_i`: time from one intersection to the next, in µs.
    pub test: f64,
    /// `t_l`: latency of the intersector's pipeline, in µs.
    pub latency: f64,
}

/// The average cost of a ray, and the numbers that it follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// `n_s`: cells on an axis.
    pub cells: u32,
    /// `n_d = (n_s − 1) d_r + 1`: cells that a ray visits.
    pub cells_visited: f64,
    /// `n_o = ((n_s − 1) √a_t + 1)²`: cells that hold polygons.
    pub occupied: f64,
    /// `n_c = (n_d − 1) n_o/n_s³ + 1`: visited cells that hold polygons. The last always does.
    pub occupied_visited: f64,
    /// `n_i = (n_p/n_o) n_c`: intersections.
    pub tests: f64,
    /// `t_r = n_d t_d + n_i t_i + t_l`: time, in µs.
    pub time: f64,
}

impl Scene {
    /// The hypothetical scene of fig. 2-18: a thousand polygons whose area stretches through the
    /// modeling space twice, and rays that travel through half of it. The peripheral takes 1 µs
    /// for a cell and ⅓ µs for a polygon, with a latency of 5.6 µs.
    pub const PUBLISHED: Self =
        Self { polygons: 1000.0, area: 2.0, distance: 0.5, step: 1.0, test: 1.0 / 3.0, latency: 5.6 };

    /// The cost of a ray with `cells` on each axis, at least 1.
    pub fn at(&self, cells: u32) -> Estimate {
        let cells = cells.max(1);
        let n = f64::from(cells);
        let cells_visited = (n - 1.0) * self.distance + 1.0;
        let occupied = ((n - 1.0) * self.area.sqrt() + 1.0).powi(2);
        let occupied_visited = (cells_visited - 1.0) * occupied / n.powi(3) + 1.0;
        let tests = self.polygons / occupied * occupied_visited;
        let time = cells_visited * self.step + tests * self.test + self.latency;
        Estimate { cells, cells_visited, occupied, occupied_visited, tests, time }
    }
}

/// The cheapest of 1 to `most` cells on an axis, the fewest of several.
pub fn best(scene: &Scene, most: u32) -> Estimate {
    let estimates = (2..=most).map(|cells| scene.at(cells));
    estimates.fold(scene.at(1), |best, next| if next.time < best.time { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, printed: f64, unit: f64) -> bool {
        (value - printed).abs() <= 0.5 * unit + 1e-9
    }

    #[test]
    fn the_least_time_is_14_3_microseconds_at_eleven_cells_on_an_axis() {
        let best = best(&Scene::PUBLISHED, 64);
        assert_eq!(best.cells, 11);
        assert!(is_near(best.time, 14.3, 0.1), "{}", best.time);
        assert!(is_near(best.cells_visited, 6.0, 0.1) && is_near(best.occupied, 229.3, 0.1), "{best:?}");
        assert!(is_near(best.occupied_visited, 1.861, 0.001) && is_near(best.tests, 8.12, 0.01), "{best:?}");
    }

    #[test]
    fn the_curve_of_figure_2_18_is_steep_on_the_left_and_shallow_on_the_right() {
        // The plot is lost; these are the equations' values.
        let curve = [
            (1, 339.9, 0.1),
            (2, 85.1, 0.1),
            (3, 42.7, 0.1),
            (4, 28.0, 0.1),
            (5, 21.5, 0.1),
            (6, 18.1, 0.1),
            (7, 16.2, 0.1),
            (8, 15.2, 0.1),
            (9, 14.63, 0.01),
            (10, 14.37, 0.01),
            (11, 14.31, 0.01),
            (12, 14.38, 0.01),
            (13, 14.54, 0.01),
            (14, 14.78, 0.01),
            (16, 15.4, 0.1),
            (20, 16.9, 0.1),
            (24, 18.7, 0.1),
            (32, 22.4, 0.1),
        ];
        let scene = Scene::PUBLISHED;
        for (cells, time, unit) in curve {
            let estimate = scene.at(cells);
            assert!(is_near(estimate.time, time, unit), "{cells}: {} for {time}", estimate.time);
        }
        let at = |n| scene.at(n).time;
        assert!(at(11 - 6) - at(11) > 3.0 * (at(11 + 6) - at(11)));
    }

    #[test]
    fn the_time_is_the_expression_in_terms_of_the_cells() {
        // The thesis gives t_r a second time, with everything put in.
        let scene = Scene { polygons: 498.0, area: 3.1, distance: 0.7, step: 0.9, ..Scene::PUBLISHED };
        for cells in 1..40 {
            let n = f64::from(cells);
            let occupied = (n - 1.0) * scene.area.sqrt() + 1.0;
            let tests = ((1.0 - 1.0 / n) * scene.distance / (n * n) + occupied.powi(-2)) * scene.polygons;
            let time = ((n - 1.0) * scene.distance + 1.0) * scene.step + tests * scene.test + scene.latency;
            assert!((scene.at(cells).time - time).abs() < 1e-9);
        }
    }

    #[test]
    fn the_grid_is_nearly_twenty_four_times_as_fast() {
        let scene = Scene::PUBLISHED;
        let best = best(&scene, 64).time;
        // A single cell costs the step and the latency as well.
        assert!(is_near(scene.at(1).time / best, 23.76, 0.01), "{}", scene.at(1).time / best);
        // "the third of a millisecond that it takes to process a ray without" a grid.
        let all = scene.polygons * scene.test;
        assert!(is_near(all / best, 23.3, 0.1), "{}", all / best);
    }

    #[test]
    fn an_image_takes_a_minute_and_a_half_without_the_grid_and_less_than_half_a_minute_with_it() {
        let scene = Scene::PUBLISHED;
        let rays = f64::from(512 * 512);
        let all = scene.polygons * scene.test;
        let seconds = rays * all * 1e-6;
        assert!(is_near(seconds, 87.4, 0.1), "{seconds}");
        // Shadows double the rays and antialiasing multiplies them by two or three: ten minutes.
        let rays = 2.0 * 3.0 * rays;
        assert!((500.0..600.0).contains(&(rays * all * 1e-6)));
        assert!(rays * best(&scene, 64).time * 1e-6 < 30.0);
    }

    #[test]
    fn more_polygons_want_more_cells() {
        let cells = |polygons| best(&Scene { polygons, ..Scene::PUBLISHED }, 1000).cells;
        assert!(cells(100.0) < cells(1000.0) && cells(1000.0) < cells(10_000.0));
        assert_eq!(cells(0.0), 1);
    }
}
