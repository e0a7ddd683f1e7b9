//! The numbers of PLY files (Turk 1994, "The PLY Polygon File Format"), which hold meshes and point
//! clouds: their types and their encodings.

/// The type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `char`, `int8`.
    I8,
    /// `uchar`, `uint8`.
    U8,
    /// `short`, `int16`.
    I16,
    /// `ushort`, `uint16`.
    U16,
    /// `int`, `int32`.
    I32,
    /// `uint`, `uint32`.
    U32,
    /// `float`, `float32`.
    F32,
    /// `double`, `float64`.
    F64,
}

impl Scalar {
    /// The type that a header's word names.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes of a number in a binary file.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The number in the first bytes of a binary file's data. Bytes that are missing are 0.
    #[must_use]
    pub fn decode(self, bytes: &[u8], encoding: Encoding) -> f64 {
        let bytes = &bytes[..self.size().min(bytes.len())];
        let mut raw = [0; 8];
        for (i, slot) in raw.iter_mut().take(bytes.len()).enumerate() {
            *slot = if encoding == Encoding::Big { bytes[bytes.len() - 1 - i] } else { bytes[i] };
        }
        let bits = u64::from_le_bytes(raw);
        match self {
            Self::I8 => f64::from(bits as u8 as i8),
            Self::U8 => f64::from(bits as u8),
            Self::I16 => f64::from(bits as u16 as i16),
            Self::U16 => f64::from(bits as u16),
            Self::I32 => f64::from(bits as u32 as i32),
            Self::U32 => f64::from(bits as u32),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }
}

/// How the numbers of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Words between white space.
    Ascii,
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

impl Encoding {
    /// The encoding that the line `format` of a header names.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "ascii" => Self::Ascii,
            "binary_little_endian" => Self::Little,
            "binary_big_endian" => Self::Big,
            _ => return None,
        })
    }
}
