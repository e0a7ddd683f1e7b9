//! Plots are XML, whatever their names and numbers are.

use super::*;

/// Checks that a text is one XML element: tags are balanced, attributes have unique names and
/// quoted values, and entities are those that XML knows.
fn check_xml(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    let mut roots = 0;
    while !rest.is_empty() {
        let (content, after) = rest.split_once('<').unwrap_or((rest, ""));
        check_text(content)?;
        if open.is_empty() && !content.trim().is_empty() {
            return Err(format!("text outside of the element: {content}"));
        }
        if after.is_empty() {
            break;
        }
        let (tag, after) = after.split_once('>').ok_or("a tag without end")?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes another element"));
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        check_attributes(attributes)?;
        roots += usize::from(open.is_empty());
        if !is_empty {
            open.push(name);
        }
    }
    match (open.is_empty(), roots) {
        (true, 1) => Ok(()),
        _ => Err(format!("{roots} elements, of which {open:?} have no end")),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(format!("a control character in {text:?}"));
    }
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    match text.split('&').skip(1).all(|part| known.iter().any(|entity| part.starts_with(entity))) {
        true => Ok(()),
        false => Err(format!("a bare & in {text:?}")),
    }
}

fn check_attributes(mut text: &str) -> Result<(), String> {
    let mut names = Vec::new();
    while !text.trim().is_empty() {
        let (name, after) = text.trim_start().split_once("=\"").ok_or_else(|| format!("no value in {text:?}"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("no closing quote in {text:?}"))?;
        check_text(value)?;
        if names.contains(&name) || name.contains(char::is_whitespace) {
            return Err(format!("the attribute {name:?}"));
        }
        names.push(name);
        text = after;
    }
    Ok(())
}

/// A name with all that has a meaning in XML.
const HOSTILE: &str = "a < b & \"c\" > 'd' \u{1}\u{7f} </svg> ü";

fn hostile_bars(logarithmic: bool) -> Bars {
    Bars {
        title: HOSTILE.into(),
        axis: Axis { label: HOSTILE.into(), logarithmic },
        groups: vec![HOSTILE.into(), "second".into()],
        series: vec![
            Series { name: HOSTILE.into(), values: vec![Some(1.5), None] },
            Series { name: "none".into(), values: vec![Some(f64::NAN), Some(f64::INFINITY)] },
            Series { name: "negative".into(), values: vec![Some(-2.0)] },
        ],
        mark: Some(1.0),
    }
}

#[test]
fn the_checker_refuses_what_is_not_xml() {
    for wrong in ["<a>", "<a></b>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>", "<a>&</a>", "<a/><b/>", "text", "<a>\u{1}</a>"]
    {
        assert!(check_xml(wrong).is_err(), "{wrong}");
    }
    assert_eq!(check_xml("<a x=\"1\"><b/>&amp;</a>"), Ok(()));
}

#[test]
fn charts_are_xml_whatever_their_names_and_values_are() {
    for logarithmic in [false, true] {
        assert_eq!(check_xml(&hostile_bars(logarithmic).svg()), Ok(()));
        let axis = || Axis { label: HOSTILE.into(), logarithmic };
        let points = vec![[1.0, 2.0], [f64::NAN, 1.0], [0.0, -1.0], [1e30, 1e-30]];
        let curves = vec![Curve { name: HOSTILE.into(), points }, Curve::default()];
        assert_eq!(check_xml(&Lines { title: HOSTILE.into(), x: axis(), y: axis(), curves }.svg()), Ok(()));
    }
    assert_eq!(check_xml(&Bars::default().svg()), Ok(()));
    assert_eq!(check_xml(&Lines::default().svg()), Ok(()));
}

#[test]
fn a_chart_has_a_bar_for_each_finite_value_and_a_name_for_each_series() {
    let svg = hostile_bars(false).svg();
    // The legend has a square for each of the three series.
    assert_eq!(svg.matches("<rect ").count(), 2 + 3, "{svg}");
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;") && svg.contains(">negative</text>"));
    assert_eq!(svg.matches("class=\"mark\"").count(), 1);
}

#[test]
fn no_coordinate_is_a_number_that_svg_does_not_know() {
    let svg = hostile_bars(true).svg().to_lowercase();
    assert!(!svg.contains("\"nan") && !svg.contains("inf\"") && !svg.contains("=\"inf"), "{svg}");
}
