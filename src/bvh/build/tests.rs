//! The properties that hold of every tree, whichever builder made it.

use super::super::gpu_layout;
use super::super::node::{Child, Link, MAX_DEPTH, Node};
use super::super::random::Random;
use super::super::tree::Bvh;
use super::super::triangle::Triangle;
use super::*;
use glam::Vec3;

fn build(triangles: &[Triangle], quality: Quality) -> Bvh {
    let options = BuildOptions { quality, ..BuildOptions::default() };
    Bvh::build(triangles, &options).expect("small enough")
}

/// Points of a triangle, corners and edges included.
fn points(t: &Triangle) -> impl Iterator<Item = Vec3> + '_ {
    let steps = (0..=6).flat_map(|u| (0..=6 - u).map(move |v| (u as f32 / 6.0, v as f32 / 6.0)));
    steps.map(|(u, v)| {
        // In double precision, so that the point is on the triangle to one rounding.
        let (a, b, c) = (t.a.as_dvec3(), t.b.as_dvec3(), t.c.as_dvec3());
        (a * (1.0 - f64::from(u) - f64::from(v)) + b * f64::from(u) + c * f64::from(v)).as_vec3()
    })
}

fn holds(child: &Child, point: Vec3) -> bool {
    point.cmpge(Vec3::from(child.min)).all() && point.cmple(Vec3::from(child.max)).all()
}

/// Checks a tree's form, and that for each point of a finite triangle there is a leaf with the
/// triangle whose box has the point, as have the boxes above it.
fn check_form(soup: &[Triangle], bvh: &Bvh, what: &str) {
    let mut leaves = vec![Vec::new(); soup.len()];
    let mut next = 0;
    check_below(bvh, 0, 1, (Vec3::NEG_INFINITY, Vec3::INFINITY), &mut next, &mut |leaf, prim| {
        leaves[prim as usize].push(*leaf);
    });
    assert_eq!(next as usize, bvh.triangles().len(), "{what}: all leaf triangles are in leaves, in order");
    for (triangle, leaves) in soup.iter().zip(&leaves) {
        if triangle.is_finite() {
            for point in points(triangle) {
                assert!(leaves.iter().any(|leaf| holds(leaf, point)), "{what}: {point} of {triangle:?}, {leaves:?}");
            }
        } else {
            assert!(leaves.is_empty(), "{what}: {triangle:?}");
        }
    }
    let stats = bvh.stats();
    assert_eq!(stats.triangles + stats.skipped, soup.len(), "{what}");
    assert_eq!(stats.references, bvh.triangles().len(), "{what}");
    assert!(stats.references <= stats.triangles + stats.triangles.div_ceil(2), "{what}: {stats:?}");
    assert!(stats.depth <= MAX_DEPTH, "{what}: {stats:?}");
}

/// Checks a subtree, and returns its number of nodes.
fn check_below(
    bvh: &Bvh,
    index: u32,
    depth: u32,
    above: (Vec3, Vec3),
    next: &mut u32,
    leaf: &mut impl FnMut(&Child, u32),
) -> u32 {
    assert!(depth <= MAX_DEPTH);
    let mut nodes = 1;
    let Node { children } = bvh.nodes()[index as usize];
    for child in &children {
        let (min, max) = (Vec3::from(child.min), Vec3::from(child.max));
        match child.link() {
            Link::Leaf { count: 0, .. } => {
                assert_eq!((index, bvh.nodes().len()), (0, 1), "only a tree of one leaf has a gap")
            }
            Link::Leaf { first, count } => {
                assert!(count <= 4 && first == *next);
                *next += count;
                bvh.triangles()[first as usize..*next as usize].iter().for_each(|t| leaf(child, t.prim));
            }
            Link::Inner(below) => {
                assert_eq!(below, index + nodes, "nodes are in preorder");
                nodes += check_below(bvh, below, depth + 1, (min, max), next, leaf);
            }
        }
        let inside = min.cmpge(above.0).all() && max.cmple(above.1).all();
        assert!(inside || child.link == Child::empty().link, "{child:?} is not inside {above:?}");
    }
    nodes
}

fn soups() -> Vec<(&'static str, Vec<Triangle>)> {
    let mut random = Random(21);
    let point = Triangle::new(Vec3::ONE, Vec3::ONE, Vec3::ONE);
    let sliver = |i: usize| {
        let x = i as f32 * 1e-6;
        Triangle::new(Vec3::new(x, -1.0, 0.0), Vec3::new(x, 1.0, 1e-7), Vec3::new(x + 1e-7, 0.0, 0.5))
    };
    let scaled = |soup: &[Triangle], s: f32| soup.iter().map(|t| Triangle::new(t.a * s, t.b * s, t.c * s)).collect();
    let mut not_finite = random.soup(50, 0.5);
    not_finite[3].a.x = f32::NAN;
    not_finite[17].c.z = f32::INFINITY;
    let large_and_small: Vec<_> = random.soup(40, 2.0).into_iter().chain(random.soup(4000, 0.02)).collect();
    vec![
        ("nothing", Vec::new()),
        ("one", random.soup(1, 1.0)),
        ("two", random.soup(2, 1.0)),
        ("five", random.soup(5, 1.0)),
        ("small ones", random.soup(30_000, 0.02)),
        ("overlapping ones", random.soup(3000, 1.0)),
        ("huge ones", scaled(&random.soup(300, 0.5), 1e30)),
        ("the largest", scaled(&random.soup(300, 0.5), 3e38)),
        ("subnormal ones", scaled(&random.soup(300, 0.5), 1e-40)),
        ("large and small", large_and_small),
        (
            "far from the origin",
            random.soup(2000, 0.3).iter().map(|t| Triangle::new(t.a + 1e4, t.b + 1e4, t.c + 1e4)).collect(),
        ),
        ("points", vec![point; 3000]),
        ("zeros", vec![Triangle::default(); 100]),
        ("duplicates", vec![Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y); 3000]),
        ("slivers", (0..2000).map(sliver).collect()),
        ("some that are not finite", not_finite),
        // Their sizes fall by a factor of 16, the number of bins: each split takes one level off.
        (
            "nested ones",
            (0..20_000)
                .map(|i| {
                    let s = 0.0625f32.powi(i % 60 - 30);
                    Triangle::new(Vec3::splat(s), Vec3::splat(s) + Vec3::X * s, Vec3::splat(s) + Vec3::Y * s)
                })
                .collect(),
        ),
    ]
}

#[test]
fn every_builder_makes_a_sound_tree_of_friendly_and_of_hostile_triangles() {
    for (name, soup) in soups() {
        for quality in Quality::ALL {
            check_form(&soup, &build(&soup, quality), &format!("{name}, {quality:?}"));
        }
    }
}

#[test]
fn only_spatial_splits_put_a_triangle_into_several_leaves() {
    let soup = Random(22).soup(3000, 1.0);
    for (quality, several) in [(Quality::Fast, false), (Quality::Sah, false), (Quality::Spatial, true)] {
        let stats = *build(&soup, quality).stats();
        assert_eq!(stats.references > stats.triangles, several, "{quality:?}: {stats:?}");
    }
}

#[test]
fn spatial_splits_lower_the_cost_where_large_triangles_cross_small_ones() {
    let soup: Vec<_> = Random(23).soup(40, 1.0).into_iter().chain(Random(28).soup(4000, 0.02)).collect();
    let [whole, split] = [Quality::Sah, Quality::Spatial].map(|quality| build(&soup, quality).stats().sah_cost);
    assert!(split < 0.9 * whole, "{split} and {whole}");
}

#[test]
fn the_tree_is_the_same_with_any_number_of_threads() {
    let soup: Vec<_> = Random(24).soup(100, 1.0).into_iter().chain(Random(25).soup(100_000, 0.01)).collect();
    for quality in Quality::ALL {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| build(&soup, quality))
        };
        let one = with(1);
        for threads in [2, 5] {
            let other = with(threads);
            assert!(gpu_layout(&one) == gpu_layout(&other), "{quality:?}, {threads} threads");
            assert_eq!(one.stats(), other.stats(), "{quality:?}, {threads} threads");
        }
    }
}

#[test]
fn progress_reaches_all_triangles() {
    let soup = Random(26).soup(50_000, 0.01);
    for quality in Quality::ALL {
        let most = std::sync::atomic::AtomicUsize::new(0);
        let progress = |done: usize| {
            most.fetch_max(done, std::sync::atomic::Ordering::Relaxed);
        };
        let options = BuildOptions { quality, progress: Some(&progress), ..BuildOptions::default() };
        Bvh::build(&soup, &options).expect("small enough");
        assert!(most.into_inner() > 49_000, "{quality:?}");
    }
}

#[test]
fn leaves_hold_as_many_triangles_as_asked() {
    let soup = Random(27).soup(5000, 0.05);
    for quality in Quality::ALL {
        for max_leaf in [1, 7] {
            let bvh = Bvh::build(&soup, &BuildOptions { quality, max_leaf, progress: None }).expect("small enough");
            let counts = bvh.nodes().iter().flat_map(|node| node.children).filter_map(|child| match child.link() {
                Link::Leaf { count, .. } => Some(count as usize),
                Link::Inner(_) => None,
            });
            assert!(counts.max().is_some_and(|most| most <= max_leaf), "{quality:?}, {max_leaf}");
        }
    }
}
