//! Particles as PDA text, the ASCII form of particle systems that Maya and Partio write:
//!
//! ```text
//! ATTRIBUTES
//!  position color
//! TYPES
//!  V V
//! NUMBER_OF_PARTICLES: 2
//! BEGIN DATA
//!  0 0 0 1 0 0
//!  1 0 0 0 1 0
//! ```
//!
//! `V` are three numbers, `R` and `I` one. `position` (or `P`), `normal` (or `N`) and `radius`
//! (`radiusPP`) are the point; everything else is a channel.

use super::{Channel, ChannelType, MAX_CHANNELS, MAX_POINTS, MAX_VALUES, Point, PointCloud, PointCloudError};

/// True if a file begins as such a text does.
pub fn is_pda(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"ATTRIBUTES")
}

fn corrupt(what: impl Into<String>) -> PointCloudError {
    PointCloudError::Corrupt(what.into())
}

/// The cloud in a text.
///
/// # Errors
/// When it is damaged or shorter than it says.
pub fn decode(bytes: &[u8]) -> Result<PointCloud, PointCloudError> {
    let text = std::str::from_utf8(bytes).map_err(|_| corrupt("the file is no text"))?;
    let (head, data) = text.split_once("BEGIN DATA").ok_or_else(|| corrupt("there is no `BEGIN DATA`"))?;
    let (names, rest) = head.split_once("TYPES").ok_or_else(|| corrupt("there are no `TYPES`"))?;
    let (types, count) =
        rest.split_once("NUMBER_OF_PARTICLES:").ok_or_else(|| corrupt("there is no `NUMBER_OF_PARTICLES:`"))?;
    let count: u64 = count.trim().parse().map_err(|_| corrupt("the number of particles is not a number"))?;
    let names: Vec<&str> = names.split_whitespace().skip(1).collect();
    let sizes: Option<Vec<usize>> = types
        .split_whitespace()
        .map(|word| match word {
            "V" => Some(3),
            "R" | "I" => Some(1),
            _ => None,
        })
        .collect();
    let sizes = sizes.ok_or_else(|| corrupt("a type is none of V, R and I"))?;
    if names.len() != sizes.len() || names.len() > MAX_CHANNELS {
        return Err(corrupt(format!("there are {} attributes and {} types", names.len(), sizes.len())));
    }
    let starts: Vec<usize> = sizes
        .iter()
        .scan(0, |next, size| {
            let start = *next;
            *next += size;
            Some(start)
        })
        .collect();
    let place = |words: &[&str], size: usize| {
        let found = names.iter().zip(&sizes).position(|(name, s)| words.contains(name) && *s == size);
        found.map(|i| starts[i])
    };
    let position = place(&["position", "P"], 3).ok_or_else(|| corrupt("there is no attribute `position` of type V"))?;
    let normal = place(&["normal", "N"], 3);
    let radius = place(&["radius", "radiusPP", "pscale"], 1);
    let per_point: usize = sizes.iter().sum();
    if count > MAX_POINTS as u64 || count.saturating_mul(per_point as u64) > MAX_VALUES as u64 {
        return Err(PointCloudError::TooLarge(count));
    }
    // A number takes a digit and a separator.
    if count * 2 * per_point as u64 > data.len() as u64 + 1 {
        return Err(corrupt(format!("the file ends early: {count} particles are announced")));
    }
    let own = [Some(position), normal, radius];
    let others: Vec<usize> = (0..names.len()).filter(|&i| !own.contains(&Some(starts[i]))).collect();
    let channels = others.iter().map(|&i| Channel {
        name: names[i].to_string(),
        ty: match sizes[i] {
            1 => ChannelType::Float,
            _ if names[i].to_lowercase().contains("color") || names[i] == "Cd" => ChannelType::Color,
            _ => ChannelType::Vector,
        },
    });
    let mut cloud = PointCloud { channels: channels.collect(), ..PointCloud::default() };
    let mut words = data.split_whitespace();
    let (mut row, mut values) = (vec![0.0; per_point], Vec::new());
    for _ in 0..count {
        for number in &mut row {
            let word = words.next().ok_or_else(|| corrupt("the file ends early"))?;
            *number = word.parse().map_err(|_| corrupt(format!("`{word}` is not a number")))?;
        }
        let triple = |at: usize| [row[at], row[at + 1], row[at + 2]];
        let point = Point {
            position: triple(position),
            normal: normal.map_or([0.0; 3], triple),
            radius: radius.map_or(0.0, |at| row[at].max(0.0)),
        };
        values.clear();
        others.iter().for_each(|&i| values.extend(&row[starts[i]..starts[i] + sizes[i]]));
        cloud.push(point, &values);
    }
    Ok(cloud)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ATTRIBUTES\n id position radiusPP myColor\nTYPES\n I V R V\nNUMBER_OF_PARTICLES: 2\n\
        BEGIN DATA\n 1 0 1 2 0.5 1 0 0\n 2 3 4 5 0.25 0 1 0\n";

    #[test]
    fn attributes_are_channels_but_for_the_point_itself() {
        let cloud = PointCloud::decode(TEXT.as_bytes()).unwrap();
        assert_eq!(cloud.points[1], Point { position: [3.0, 4.0, 5.0], normal: [0.0; 3], radius: 0.25 });
        let names: Vec<_> = cloud.channels.iter().map(|c| (c.name.as_str(), c.ty)).collect();
        assert_eq!(names, [("id", ChannelType::Float), ("myColor", ChannelType::Color)]);
        assert_eq!(cloud.values_of(1), [2.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_text_that_is_cut_off_is_an_error_or_a_shorter_number() {
        for length in 0..TEXT.len() - 4 {
            assert!(PointCloud::decode(&TEXT.as_bytes()[..length]).is_err(), "{length}");
        }
        for count in ["3", "99999999999", "-2", "1e3"] {
            let lie = TEXT.replace("PARTICLES: 2", &format!("PARTICLES: {count}"));
            assert!(PointCloud::decode(lie.as_bytes()).is_err(), "{count}");
        }
    }
}
