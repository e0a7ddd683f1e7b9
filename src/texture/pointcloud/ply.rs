//! Point clouds as PLY files (Turk 1994, "The PLY Polygon File Format"), version 1.0, so that other
//! programs show them.
//!
//! ```text
//! ply
//! format binary_little_endian 1.0
//! comment channel color _radiosity
//! element vertex 1000
//! property float x
//! property float y
//! property float z
//! property float nx
//! property float ny
//! property float nz
//! property float radius
//! property float _radiosity.0
//! property float _radiosity.1
//! property float _radiosity.2
//! end_header
//! ```
//!
//! A channel of three numbers is three properties `NAME.0`, `NAME.1`, `NAME.2`; the comment before
//! them has its type. The numbers follow the header, 32-bit floats in the order of the properties,
//! point after point. Files of other programs may be ASCII, may lack normals and radii, and their
//! other properties of a vertex are channels of one number each; elements after the vertices are
//! skipped.

use super::{Channel, ChannelType, MAX_CHANNELS, MAX_POINTS, MAX_VALUES, Point, PointCloud, PointCloudError};
use shadewright_base::ply::{Encoding, Scalar};

/// The properties of every point.
const OWN: [&str; 7] = ["x", "y", "z", "nx", "ny", "nz", "radius"];

/// Most bytes of a header.
const MAX_HEADER: usize = 1 << 16;

/// The cloud as a file.
pub fn encode(cloud: &PointCloud) -> Vec<u8> {
    let mut header = "ply\nformat binary_little_endian 1.0\ncomment point cloud\n".to_string();
    for Channel { name, ty } in &cloud.channels {
        header += &format!("comment channel {} {name}\n", ty.word());
    }
    header += &format!("element vertex {}\n", cloud.points.len());
    OWN.iter().for_each(|name| header += &format!("property float {name}\n"));
    for Channel { name, ty } in &cloud.channels {
        match ty.floats() {
            1 => header += &format!("property float {name}\n"),
            n => (0..n).for_each(|i| header += &format!("property float {name}.{i}\n")),
        }
    }
    header += "end_header\n";
    let mut bytes = header.into_bytes();
    bytes.reserve(4 * (OWN.len() * cloud.points.len() + cloud.values.len()));
    for (number, point) in cloud.points.iter().enumerate() {
        let own = point.position.iter().chain(&point.normal).chain([&point.radius]);
        own.chain(cloud.values_of(number)).for_each(|x| bytes.extend(x.to_le_bytes()));
    }
    bytes
}

/// The contents of a header.
struct Header {
    encoding: Encoding,
    points: u64,
    properties: Vec<(String, Scalar)>,
    channels: Vec<Channel>,
}

fn corrupt(what: impl Into<String>) -> PointCloudError {
    PointCloudError::Corrupt(what.into())
}

/// The cloud in a file.
///
/// # Errors
/// When the header is damaged or the file is shorter than it says; nothing is allocated for points
/// that the file has not.
pub fn decode(bytes: &[u8]) -> Result<PointCloud, PointCloudError> {
    let end = bytes[..bytes.len().min(MAX_HEADER)]
        .windows(b"end_header".len())
        .position(|w| w == b"end_header")
        .ok_or_else(|| corrupt("the header has no end"))?;
    let header = std::str::from_utf8(&bytes[..end]).map_err(|_| corrupt("the header is no text"))?;
    let header = Header::read(header)?;
    let rest = &bytes[end..];
    let line = rest.iter().position(|b| *b == b'\n').ok_or_else(|| corrupt("nothing follows the header"))?;
    let data = &rest[line + 1..];
    let place = |name: &str| header.properties.iter().position(|p| p.0 == name);
    let own: [Option<usize>; 7] = OWN.map(place);
    if own[..3].contains(&None) {
        return Err(corrupt("the vertices have no properties x, y and z"));
    }
    let (channels, from) = header.channels_of_properties()?;
    let per_point = header.properties.len();
    let least = match header.encoding {
        // A digit and a separator.
        Encoding::Ascii => 2 * per_point,
        _ => header.properties.iter().map(|p| p.1.size()).sum(),
    } as u64;
    if header.points > MAX_POINTS as u64 || header.points.saturating_mul(from.len() as u64) > MAX_VALUES as u64 {
        return Err(PointCloudError::TooLarge(header.points));
    }
    // No separator needs to follow the last digit.
    let there = data.len() as u64 + u64::from(header.encoding == Encoding::Ascii);
    if header.points * least > there {
        let (announced, fits) = (header.points, there / least.max(1));
        return Err(corrupt(format!(
            "the file ends early: {announced} points are announced, at most {fits} are there"
        )));
    }
    let mut cloud = PointCloud { channels, ..PointCloud::default() };
    let mut row = vec![0.0; per_point];
    let mut values = Vec::with_capacity(from.len());
    let mut words = data.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let mut at = 0;
    for _ in 0..header.points {
        for (number, (_, scalar)) in row.iter_mut().zip(&header.properties) {
            *number = match header.encoding {
                Encoding::Ascii => words
                    .next()
                    .and_then(|w| std::str::from_utf8(w).ok()?.parse().ok())
                    .ok_or_else(|| corrupt("a number is missing or damaged"))?,
                encoding => {
                    let number = scalar.decode(&data[at..], encoding) as f32;
                    at += scalar.size();
                    number
                }
            };
        }
        let get = |i: usize| own[i].map_or(0.0, |place| row[place]);
        let point =
            Point { position: [get(0), get(1), get(2)], normal: [get(3), get(4), get(5)], radius: get(6).max(0.0) };
        values.clear();
        values.extend(from.iter().map(|&place| row[place]));
        cloud.push(point, &values);
    }
    Ok(cloud)
}

impl Header {
    fn read(text: &str) -> Result<Self, PointCloudError> {
        let mut encoding = None;
        let (mut points, mut properties, mut channels) = (None, Vec::new(), Vec::new());
        let mut in_vertices = false;
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["format", word, _] => {
                    let unknown = || corrupt(format!("unknown format `{word}`"));
                    encoding = Some(Encoding::parse(word).ok_or_else(unknown)?);
                }
                ["comment", "channel", ty, name] => {
                    if let Some(ty) = ChannelType::from_word(ty) {
                        channels.push(Channel { name: name.to_string(), ty });
                    }
                }
                ["element", "vertex", count] => {
                    points = Some(count.parse().map_err(|_| corrupt("the number of vertices is not a number"))?);
                    in_vertices = true;
                }
                ["element", ..] if points.is_none() => {
                    return Err(corrupt("the vertices are not the first element"));
                }
                ["element", ..] => in_vertices = false,
                ["property", "list", ..] if in_vertices => {
                    return Err(corrupt("a property of a vertex is a list"));
                }
                ["property", ty, name] if in_vertices => {
                    let ty = Scalar::parse(ty).ok_or_else(|| corrupt(format!("unknown type `{ty}`")))?;
                    properties.push((name.to_string(), ty));
                }
                _ => {}
            }
        }
        let encoding = encoding.ok_or_else(|| corrupt("the header has no format"))?;
        let points = points.ok_or_else(|| corrupt("the file has no vertices"))?;
        Ok(Self { encoding, points, properties, channels })
    }

    /// The channels, and for each of their numbers the property that has it.
    fn channels_of_properties(&self) -> Result<(Vec<Channel>, Vec<usize>), PointCloudError> {
        let (mut channels, mut from) = (Vec::new(), Vec::new());
        let mut taken = vec![false; self.properties.len()];
        for channel in &self.channels {
            let names: Vec<String> = match channel.ty.floats() {
                1 => vec![channel.name.clone()],
                n => (0..n).map(|i| format!("{}.{i}", channel.name)).collect(),
            };
            let places = names.iter().map(|name| self.properties.iter().position(|p| p.0 == *name));
            let places: Option<Vec<usize>> = places.collect();
            let places = places.ok_or_else(|| corrupt(format!("the channel `{}` has no properties", channel.name)))?;
            places.iter().for_each(|&place| taken[place] = true);
            channels.push(channel.clone());
            from.extend(places);
        }
        for (place, (name, _)) in self.properties.iter().enumerate() {
            if !taken[place] && !OWN.contains(&&**name) {
                channels.push(Channel { name: name.clone(), ty: ChannelType::Float });
                from.push(place);
            }
        }
        if channels.len() > MAX_CHANNELS {
            return Err(corrupt(format!("there are {} channels; the limit is {MAX_CHANNELS}", channels.len())));
        }
        Ok((channels, from))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cloud;
    use super::*;

    #[test]
    fn a_file_gives_the_cloud_back() {
        let cloud = cloud(5);
        assert_eq!(decode(&encode(&cloud)), Ok(cloud));
    }

    #[test]
    fn a_file_that_is_cut_off_or_lies_is_an_error_at_every_length() {
        let bytes = encode(&cloud(3));
        for length in 0..bytes.len() {
            assert!(PointCloud::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
        let text = String::from_utf8_lossy(&bytes[..200]).into_owned();
        for count in ["4", "8388609", "18446744073709551615", "-1", "x"] {
            let head = text.replacen("element vertex 3", &format!("element vertex {count}"), 1);
            let mut lie = head.into_bytes();
            lie.extend(&bytes[200..]);
            assert!(PointCloud::decode(&lie).is_err(), "{count}");
        }
    }

    #[test]
    fn bytes_that_are_changed_never_panic() {
        let bytes = encode(&cloud(2));
        for at in 0..bytes.len() {
            for value in [0, b' ', b'9', 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = PointCloud::decode(&changed);
            }
        }
    }

    #[test]
    fn files_of_other_programs_are_read() {
        let text = "ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty float y\nproperty float z\n\
            property uchar red\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n1 2 3 255\n4 5 nan 0\n";
        let cloud = decode(text.as_bytes()).unwrap();
        assert_eq!(cloud.points, [Point { position: [1.0, 2.0, 3.0], normal: [0.0; 3], radius: 0.0 }]);
        assert_eq!((cloud.channels[0].name.as_str(), &cloud.values[..]), ("red", &[255.0][..]));
    }
}
