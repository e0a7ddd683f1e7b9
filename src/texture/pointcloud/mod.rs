//! Point clouds: points with a normal, a radius and named values, which shaders bake and read.
//!
//! [`ply`] reads and writes the files that `bake3d` makes, [`pda`] reads the ASCII form of
//! particle systems, [`samples`] the text of `bake`, whose points lie in a texture. [`tree`] orders
//! points for look-ups. Nothing here knows shaders or the memory image.

pub mod pda;
pub mod ply;
pub mod samples;
pub mod tree;

use thiserror::Error;

/// Most points of a cloud: 2²³.
pub const MAX_POINTS: usize = 1 << 23;

/// Most values of all points of a cloud together: 2²⁷, which take 512 MiB.
pub const MAX_VALUES: usize = 1 << 27;

/// Most channels of a cloud.
pub const MAX_CHANNELS: usize = 32;

/// The type of a channel's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelType {
    /// One number.
    Float,
    /// Red, green and blue.
    Color,
    /// A position.
    Point,
    /// A direction.
    Vector,
    /// A normal.
    Normal,
}

impl ChannelType {
    const ALL: [(Self, &str); 5] = [
        (Self::Float, "float"),
        (Self::Color, "color"),
        (Self::Point, "point"),
        (Self::Vector, "vector"),
        (Self::Normal, "normal"),
    ];

    /// The word in files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|t| t.0 == self).map_or("float", |t| t.1)
    }

    /// The type of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|t| t.1 == word).map(|t| t.0)
    }

    /// How many numbers a value is made of: 1 or 3.
    pub fn floats(self) -> usize {
        if self == Self::Float { 1 } else { 3 }
    }
}

/// A named value that every point has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The name, without white space.
    pub name: String,
    /// The type.
    pub ty: ChannelType,
}

/// Where a point is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The position, in world space unless the shader that baked it says otherwise.
    pub position: [f32; 3],
    /// The normal, of any length; zero for a point that faces all sides.
    pub normal: [f32; 3],
    /// The radius of the disk that the point stands for; 0 where that is not known.
    pub radius: f32,
}

impl Point {
    fn is_finite(&self) -> bool {
        self.position.iter().chain(&self.normal).chain([&self.radius]).all(|x| x.is_finite())
    }
}

/// A point cloud.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// The channels, in the order of [`PointCloud::values`].
    pub channels: Vec<Channel>,
    /// The points.
    pub points: Vec<Point>,
    /// [`PointCloud::stride`] numbers a point.
    pub values: Vec<f32>,
}

/// Why bytes are no point cloud.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PointCloudError {
    /// They begin like no format that is known.
    #[error("unknown format of point clouds; a PLY file or a PDA text is expected")]
    Unknown,
    /// They are a point cloud of PRMan, whose format is not published.
    #[error(
        "the binary point clouds of PRMan have no published format; bake it again with this renderer, or convert it to PLY or PDA"
    )]
    Proprietary,
    /// The file ends before its points do, or breaks its format otherwise.
    #[error("{0}")]
    Corrupt(String),
    /// There are more points than the limit.
    #[error("there are {0} points; the limit is {MAX_POINTS}")]
    TooLarge(u64),
}

impl PointCloud {
    /// Numbers of a point.
    pub fn stride(&self) -> usize {
        self.channels.iter().map(|c| c.ty.floats()).sum()
    }

    /// Adds a point; one that is not finite is left out. The values are as many as
    /// [`PointCloud::stride`].
    pub fn push(&mut self, point: Point, values: &[f32]) {
        if point.is_finite() && values.iter().all(|x| x.is_finite()) && values.len() == self.stride() {
            self.points.push(point);
            self.values.extend(values);
        }
    }

    /// The numbers of a point.
    pub fn values_of(&self, point: usize) -> &[f32] {
        let stride = self.stride();
        &self.values[point * stride..][..stride]
    }

    /// Adds the points of another cloud. Channels that one of the two lacks are added to it; they
    /// are 0 there. A channel of the same name and another type is left out.
    pub fn append(&mut self, other: &PointCloud) {
        if self.channels != other.channels {
            let new = other.channels.iter().filter(|c| self.channels.iter().all(|own| own.name != c.name));
            let new: Vec<Channel> = new.cloned().collect();
            let added: usize = new.iter().map(|c| c.ty.floats()).sum();
            let mut values = Vec::with_capacity((self.stride() + added) * self.points.len());
            for point in 0..self.points.len() {
                values.extend(self.values_of(point));
                values.extend(std::iter::repeat_n(0.0, added));
            }
            self.values = values;
            self.channels.extend(new);
        }
        let from: Vec<Option<usize>> = self.channels.iter().map(|c| other.offset(c)).collect();
        for (number, point) in other.points.iter().enumerate() {
            let given = other.values_of(number);
            self.points.push(*point);
            for (channel, from) in self.channels.iter().zip(&from) {
                let floats = channel.ty.floats();
                match from {
                    Some(from) => self.values.extend(&given[*from..from + floats]),
                    None => self.values.extend(std::iter::repeat_n(0.0, floats)),
                }
            }
        }
    }

    /// Where the numbers of a channel begin among those of a point.
    fn offset(&self, channel: &Channel) -> Option<usize> {
        let position = self.channels.iter().position(|own| own == channel)?;
        Some(self.channels[..position].iter().map(|c| c.ty.floats()).sum())
    }

    /// Every `step`-th point, each with the area of `step`: for less memory.
    pub fn thinned(&self, step: usize) -> Self {
        let grown = (step.max(1) as f32).sqrt();
        let kept = (0..self.points.len()).step_by(step.max(1));
        let mut thinned = Self { channels: self.channels.clone(), ..Self::default() };
        for number in kept {
            let point = self.points[number];
            thinned.points.push(Point { radius: point.radius * grown, ..point });
            thinned.values.extend(self.values_of(number));
        }
        thinned
    }

    /// The cloud in a file, whose format its first bytes tell. Points that are not finite are left
    /// out.
    ///
    /// # Errors
    /// When the format is not known, the file is damaged, or there are more than [`MAX_POINTS`].
    pub fn decode(bytes: &[u8]) -> Result<Self, PointCloudError> {
        if bytes.starts_with(b"ply") {
            return ply::decode(bytes);
        }
        if pda::is_pda(bytes) {
            return pda::decode(bytes);
        }
        // A text is none of PRMan's files, which begin with a binary number.
        let start = &bytes[..bytes.len().min(64)];
        match start.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
            true => Err(PointCloudError::Unknown),
            false => Err(PointCloudError::Proprietary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cloud of `count` points with a color and a float.
    pub(super) fn cloud(count: usize) -> PointCloud {
        let channels = vec![
            Channel { name: "_radiosity".to_string(), ty: ChannelType::Color },
            Channel { name: "_area".to_string(), ty: ChannelType::Float },
        ];
        let mut cloud = PointCloud { channels, ..PointCloud::default() };
        for i in 0..count {
            let x = i as f32 * 0.25;
            let point = Point { position: [x, -x, 1.0], normal: [0.0, 1.0, 0.0], radius: 0.125 };
            cloud.push(point, &[x, 0.5, -1.0, x * x]);
        }
        cloud
    }

    #[test]
    fn points_that_are_not_finite_are_left_out() {
        let mut cloud = cloud(2);
        let point = Point { position: [f32::NAN, 0.0, 0.0], ..cloud.points[0] };
        cloud.push(point, &[0.0; 4]);
        cloud.push(cloud.points[0], &[0.0, f32::INFINITY, 0.0, 0.0]);
        assert_eq!((cloud.points.len(), cloud.values.len()), (2, 8));
    }

    #[test]
    fn clouds_with_other_channels_are_joined_with_zeros() {
        let mut joined = cloud(1);
        let channels = vec![Channel { name: "_depth".to_string(), ty: ChannelType::Float }, joined.channels[1].clone()];
        let other = PointCloud { channels, points: cloud(1).points, values: vec![7.0, 8.0] };
        joined.append(&other);
        assert_eq!(joined.values_of(0), [0.0, 0.5, -1.0, 0.0, 0.0]);
        assert_eq!(joined.values_of(1), [0.0, 0.0, 0.0, 8.0, 7.0]);
    }

    #[test]
    fn an_unknown_format_says_what_is_known() {
        assert_eq!(PointCloud::decode(b"hello"), Err(PointCloudError::Unknown));
        assert_eq!(PointCloud::decode(&[0x89, 0, 3, 200, 1]), Err(PointCloudError::Proprietary));
        assert_eq!(PointCloud::decode(b""), Err(PointCloudError::Unknown));
    }

    #[test]
    fn a_thinned_cloud_covers_the_same_area() {
        let thin = cloud(9).thinned(4);
        assert_eq!(thin.points.len(), 3);
        assert_eq!(thin.points[1].radius, 0.25);
        assert_eq!(thin.values_of(1), cloud(9).values_of(4));
    }
}
