use super::design::Units;
use super::*;

fn design(units: Units) -> Design {
    Design {
        name: "x".into(),
        then: Some(1000.0),
        operations: 5400.0,
        bytes: 800.0,
        scene: 1e6,
        wires: 1000.0,
        busy: 1.0,
        units,
    }
}

#[test]
fn the_scarcest_of_arithmetic_and_memory_is_the_bound() {
    let today = Assumptions::default();
    let small = bound(&design(Units::Chip), &today);
    assert_eq!(small.limit, Limit::OnChip);
    assert!((small.rays - today.chip.on_chip_rate / 800.0).abs() < 1e-6);
    let large = bound(&Design { scene: 1e9, ..design(Units::Chip) }, &today);
    assert_eq!(large.limit, Limit::Memory);
    let idle = bound(&Design { bytes: 1.0, busy: 0.5, ..design(Units::Chip) }, &today);
    assert_eq!(idle.limit, Limit::Arithmetic);
    assert!((idle.rays - 0.5 * today.chip.operations / 5400.0).abs() < 1e-6);
}

#[test]
fn a_chain_takes_a_ray_a_cycle_and_chips_by_its_length() {
    let today = Assumptions::default();
    let chain = |units: f64| {
        let units = Units::Chain { units, operations: 54.0 };
        bound(&Design { bytes: 0.0, wires: 52.0, ..design(units) }, &today)
    };
    assert_eq!((chain(500.0).chips, chain(500.0).rays), (1.0, today.chip.clock));
    assert!(chain(10_000.0).chips > 10.0);
}

#[test]
fn nodes_are_limited_by_their_processors() {
    let today = Assumptions::default();
    let slow = bound(&Design { bytes: 0.0, ..design(Units::Nodes { instructions: 1e5 }) }, &today);
    assert_eq!(slow.limit, Limit::Processors);
}

#[test]
fn the_report_ranks_the_designs() {
    let designs = [
        Design { name: "slow".into(), operations: 1e7, ..design(Units::Chip) },
        Design { name: "fast".into(), operations: 10.0, then: None, ..design(Units::Chip) },
    ];
    let report = report("scene", &designs, &Assumptions::default());
    let rows =
        report.json()["today"].as_array().map(|rows| rows.iter().map(|r| r["design"].clone()).collect::<Vec<_>>());
    assert_eq!(rows, Some(vec!["fast".into(), "slow".into()]));
    assert!(report.charts[0].svg.starts_with("<svg"));
    assert!(Assumptions::parse("[chip]\nclock = 0").is_err());
}
