//! Decoders of compressed buffer views (Khronos, `EXT_meshopt_compression`, appendices A and B):
//! attributes, triangles and indices, and the filters of attributes.
//!
//! A stream does not contain its number of elements: the caller checks that `count * stride` bytes
//! may be allocated. Every read is checked; a stream that ends early or is too long is an error.

use serde::Deserialize;

/// The content of a stream.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    /// Elements of `stride` bytes, as differences from the element before.
    Attributes,
    /// Triangles, by edges and vertices that were met last.
    Triangles,
    /// Indices, as differences.
    Indices,
}

/// The operation on attributes after they are decoded.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Filter {
    /// Nothing.
    #[default]
    None,
    /// Unit vectors in octahedral coordinates.
    Octahedral,
    /// Unit quaternions without their largest component.
    Quaternion,
    /// Floats as an exponent and a mantissa.
    Exponential,
}

/// Elements of a group, whose differences have one width.
const GROUP: usize = 16;
/// The most bytes, and the most elements, of a block.
const BLOCK: [usize; 2] = [8192, 256];
/// The least size of the end of a stream of attributes.
const TAIL: usize = 32;
/// The error of a stream that is too short.
const EARLY: &str = "it ends early";

/// The elements of a stream, `stride` bytes each.
///
/// # Errors
/// The fault of the stream, or of the stride.
pub fn decode(mode: Mode, filter: Filter, count: usize, stride: usize, data: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut bytes = match mode {
        Mode::Attributes if !stride.is_multiple_of(4) || stride == 0 || stride > 256 => {
            return Err("the stride of attributes is a multiple of 4, at most 256");
        }
        Mode::Triangles | Mode::Indices if stride != 2 && stride != 4 => return Err("the stride of indices is 2 or 4"),
        Mode::Triangles if !count.is_multiple_of(3) => return Err("the number of indices is no multiple of 3"),
        Mode::Attributes => attributes(count, stride, data)?,
        Mode::Triangles => packed(&triangles(count, data)?, stride),
        Mode::Indices => packed(&indices(count, data)?, stride),
    };
    match (filter, stride) {
        (Filter::None, _) => {}
        (Filter::Octahedral, 4) => bytes.chunks_exact_mut(4).for_each(|e| {
            let v = octahedral([e[0], e[1], e[2]].map(|x| f32::from(x as i8)), 127.0);
            e[..3].iter_mut().zip(v).for_each(|(e, x)| *e = x as i8 as u8);
        }),
        (Filter::Octahedral, 8) => bytes.chunks_exact_mut(8).for_each(|e| {
            let [x, y, one, w] = shorts(e);
            let [x, y, z] = octahedral([x, y, one].map(f32::from), 32767.0).map(|x| x as i16);
            write_shorts(e, [x, y, z, w]);
        }),
        (Filter::Quaternion, 8) => bytes.chunks_exact_mut(8).for_each(|e| write_shorts(e, quaternion(shorts(e)))),
        (Filter::Exponential, _) if stride.is_multiple_of(4) => bytes.chunks_exact_mut(4).for_each(|e| {
            let bits = i32::from_le_bytes([e[0], e[1], e[2], e[3]]);
            // Exponents beyond those of floats make infinities, which are reported where they are used.
            let value = f64::from(bits << 8 >> 8) * f64::from(bits >> 24).exp2();
            e.copy_from_slice(&(value as f32).to_le_bytes());
        }),
        _ => return Err("the filter does not go with the stride"),
    }
    Ok(bytes)
}

/// A stream that is read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(EARLY)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, &'static str> {
        Ok(self.take(1)?[0])
    }

    /// A number of up to five bytes of 7 bits, the lowest first.
    fn number(&mut self) -> Result<u32, &'static str> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte < 128 {
                return Ok(number);
            }
        }
        Err("a number has more than 32 bits")
    }

    /// A number that differs from another by what is read.
    fn next_to(&mut self, last: u32) -> Result<u32, &'static str> {
        let number = self.number()?;
        Ok(last.wrapping_add((number >> 1) ^ 0u32.wrapping_sub(number & 1)))
    }

    /// That the stream begins like this.
    fn header(&mut self, expected: u8) -> Result<(), &'static str> {
        if self.byte()? == expected { Ok(()) } else { Err("it is of another kind or version") }
    }

    /// That the rest has so many bytes.
    fn ends(&self, tail: usize) -> Result<(), &'static str> {
        if self.0.len() == tail { Ok(()) } else { Err("its length is wrong") }
    }
}

fn attributes(count: usize, stride: usize, data: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut reader = Reader(data);
    reader.header(0xa0)?;
    let tail = stride.max(TAIL);
    let first = data.len().checked_sub(stride).ok_or(EARLY)?;
    // Four groups of equal bytes take one byte.
    if count.div_ceil(4 * GROUP) * stride > data.len() {
        return Err(EARLY);
    }
    let mut last = data[first..].to_vec();
    let mut bytes = vec![0; count * stride];
    let [most_bytes, most] = BLOCK;
    let block = (most_bytes / stride / GROUP * GROUP).min(most);
    for elements in bytes.chunks_mut(block * stride) {
        let groups = (elements.len() / stride).div_ceil(GROUP);
        for (k, last) in last.iter_mut().enumerate() {
            let widths = reader.take(groups.div_ceil(4))?;
            for group in 0..groups {
                let differences = differences(widths[group / 4] >> (2 * (group % 4)) & 3, &mut reader)?;
                let own = elements[group * GROUP * stride..].chunks_exact_mut(stride).take(GROUP);
                for (element, difference) in own.zip(differences) {
                    *last = last.wrapping_add((difference >> 1) ^ 0u8.wrapping_sub(difference & 1));
                    element[k] = *last;
                }
            }
        }
    }
    reader.ends(tail)?;
    Ok(bytes)
}

/// The differences of a group. Those of 2 or 4 bits that are all ones stand for a byte, which
/// follows.
fn differences(width: u8, reader: &mut Reader<'_>) -> Result<[u8; GROUP], &'static str> {
    let mut all = [0; GROUP];
    let bits = match width {
        0 => return Ok(all),
        3 => {
            all.copy_from_slice(reader.take(GROUP)?);
            return Ok(all);
        }
        width => 2 * usize::from(width),
    };
    let packed = reader.take(GROUP * bits / 8)?;
    let ones = (1u8 << bits) - 1;
    for (i, difference) in all.iter_mut().enumerate() {
        let at = i * bits;
        let own = packed[at / 8] >> (8 - bits - at % 8) & ones;
        *difference = if own == ones { reader.byte()? } else { own };
    }
    Ok(all)
}

/// The last sixteen of something, of which number 0 is the very last.
struct Recent<T> {
    ring: [T; 16],
    next: usize,
}

impl<T: Copy> Recent<T> {
    fn push(&mut self, value: T) {
        self.ring[self.next % 16] = value;
        self.next = (self.next + 1) % 16;
    }

    fn get(&self, back: u8) -> T {
        self.ring[(self.next + 15 - usize::from(back)) % 16]
    }
}

fn triangles(count: usize, data: &[u8]) -> Result<Vec<u32>, &'static str> {
    let mut reader = Reader(data);
    reader.header(0xe1)?;
    let codes = reader.take(count / 3)?;
    let table = data.len().checked_sub(16).ok_or(EARLY)?;
    let table = &data[table..];
    let mut edges = Recent { ring: [[0u32; 2]; 16], next: 0 };
    let mut vertices = Recent { ring: [0u32; 16], next: 0 };
    let (mut next, mut last) = (0u32, 0u32);
    let fresh = |next: &mut u32| {
        *next = next.wrapping_add(1);
        next.wrapping_sub(1)
    };
    let mut all = Vec::with_capacity(count);
    for &code in codes {
        let triangle = if code < 0xf0 {
            let [a, b] = edges.get(code >> 4);
            let c = match code & 15 {
                0 => fresh(&mut next),
                back @ 1..13 => vertices.get(back),
                third => {
                    last = match third {
                        13 => last.wrapping_sub(1),
                        14 => last.wrapping_add(1),
                        _ => reader.next_to(last)?,
                    };
                    last
                }
            };
            if !(1..13).contains(&(code & 15)) {
                vertices.push(c);
            }
            [a, b, c]
        } else {
            let is_listed = code < 0xfe;
            let pair = if is_listed { table[usize::from(code & 15)] } else { reader.byte()? };
            if !is_listed && pair == 0 {
                next = 0;
            }
            let first = if code == 0xff { 15 } else { 0 };
            let kinds = [first, pair >> 4, pair & 15];
            let mut triangle = [0; 3];
            for (vertex, kind) in triangle.iter_mut().zip(kinds) {
                *vertex = match kind {
                    0 => fresh(&mut next),
                    15 if !is_listed => {
                        last = reader.next_to(last)?;
                        last
                    }
                    back => vertices.get(back - 1),
                };
            }
            for (vertex, kind) in triangle.iter().zip(kinds) {
                if kind == 0 || kind == 15 && !is_listed {
                    vertices.push(*vertex);
                }
            }
            triangle
        };
        let [a, b, c] = triangle;
        if code >= 0xf0 {
            edges.push([b, a]);
        }
        edges.push([c, b]);
        edges.push([a, c]);
        all.extend(triangle);
    }
    reader.ends(16)?;
    Ok(all)
}

fn indices(count: usize, data: &[u8]) -> Result<Vec<u32>, &'static str> {
    let mut reader = Reader(data);
    reader.header(0xd1)?;
    let mut last = [0u32; 2];
    if count > data.len() {
        return Err(EARLY);
    }
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let number = reader.number()?;
        let base = &mut last[(number & 1) as usize];
        let difference = number >> 1;
        *base = base.wrapping_add((difference >> 1) ^ 0u32.wrapping_sub(difference & 1));
        all.push(*base);
    }
    reader.ends(4)?;
    Ok(all)
}

/// Indices of 2 or 4 bytes.
fn packed(indices: &[u32], stride: usize) -> Vec<u8> {
    indices.iter().flat_map(|i| i.to_le_bytes().into_iter().take(stride)).collect()
}

fn shorts(e: &[u8]) -> [i16; 4] {
    std::array::from_fn(|i| i16::from_le_bytes([e[2 * i], e[2 * i + 1]]))
}

fn write_shorts(e: &mut [u8], values: [i16; 4]) {
    e.chunks_exact_mut(2).zip(values).for_each(|(e, x)| e.copy_from_slice(&x.to_le_bytes()));
}

/// Half away from zero.
fn rounded(x: f32) -> f32 {
    (x + 0.5f32.copysign(x)).trunc()
}

/// A unit vector times `most`, from its octahedral coordinates and the number that stands for 1.
fn octahedral([x, y, one]: [f32; 3], most: f32) -> [f32; 3] {
    let z = one - x.abs() - y.abs();
    // The lower half is folded over the edges of the upper one.
    let below = z.min(0.0);
    let fold = |v: f32| if v >= 0.0 { v + below } else { v - below };
    let (x, y) = (fold(x), fold(y));
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|v| rounded(v * (most / length)))
}

/// A unit quaternion as shorts, from three components and the number of the fourth.
fn quaternion([x, y, z, scale]: [i16; 4]) -> [i16; 4] {
    let unit = std::f32::consts::FRAC_1_SQRT_2 / f32::from(scale | 3);
    let [x, y, z] = [x, y, z].map(|v| f32::from(v) * unit);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let mut all = [0; 4];
    for (i, v) in [w, x, y, z].into_iter().enumerate() {
        all[(usize::from(scale.cast_unsigned() & 3) + i) % 4] = rounded(v * 32767.0) as i16;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty elements (i, 3 i, 200, i mod 7), by the encoder of another program, without the end:
    /// 28 zeros and the first element.
    const ATTRIBUTES: [u8; 39] = [
        160, 5, 42, 170, 170, 170, 170, 0, 0, 0, 6, 6, 102, 102, 102, 102, 102, 102, 102, 255, 0, 0, 0, 6, 6, 6, 6, 0,
        5, 42, 171, 170, 174, 11, 11, 170, 0, 0, 0,
    ];
    /// The triangles of [`CORNERS`], likewise.
    const TRIANGLES: [u8; 29] = [
        225, 240, 16, 16, 255, 15, 254, 255, 18, 1, 1, 46, 20, 0, 118, 135, 86, 103, 120, 169, 134, 101, 137, 104, 152,
        1, 105, 0, 0,
    ];
    const CORNERS: [u16; 18] = [0, 1, 2, 2, 1, 3, 3, 1, 4, 9, 8, 7, 9, 7, 30, 5, 30, 9];
    /// The same as indices.
    const INDICES: [u8; 23] = [209, 0, 4, 4, 0, 2, 8, 0, 6, 12, 20, 2, 2, 8, 6, 92, 98, 100, 82, 0, 0, 0, 0];

    /// A mode, the number and the size of its elements, what they are compressed to, and their bytes.
    type Sample = (Mode, usize, usize, Vec<u8>, Vec<u8>);

    fn all_modes() -> [Sample; 3] {
        let elements = (0..20u8).flat_map(|i| [i, 3 * i, 200, i % 7]).collect();
        let corners: Vec<u8> = CORNERS.iter().flat_map(|i| i.to_le_bytes()).collect();
        [
            (Mode::Attributes, 20, 4, [&ATTRIBUTES[..], &[0; 28], &[0, 0, 200, 0]].concat(), elements),
            (Mode::Triangles, 18, 2, TRIANGLES.to_vec(), corners.clone()),
            (Mode::Indices, 18, 2, INDICES.to_vec(), corners),
        ]
    }

    #[test]
    fn streams_of_another_encoder_are_decoded() {
        for (mode, count, stride, data, expected) in all_modes() {
            assert_eq!(decode(mode, Filter::None, count, stride, &data), Ok(expected), "{mode:?}");
        }
    }

    #[test]
    fn streams_that_are_cut_or_changed_are_errors_or_other_elements() {
        for (mode, count, stride, data, _) in all_modes() {
            for length in 0..data.len() {
                assert!(decode(mode, Filter::None, count, stride, &data[..length]).is_err(), "{mode:?}, {length}");
            }
            for (i, bit) in (0..data.len()).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
                let mut changed = data.clone();
                changed[i] ^= 1 << bit;
                let decoded = decode(mode, Filter::None, count, stride, &changed);
                assert!(decoded.is_err() || decoded.is_ok_and(|bytes| bytes.len() == count * stride));
            }
        }
    }

    #[test]
    fn sizes_that_a_mode_or_filter_does_not_have_are_errors() {
        let fails = |mode, filter, count, stride| decode(mode, filter, count, stride, &ATTRIBUTES).is_err();
        assert!(fails(Mode::Attributes, Filter::None, 20, 3) && fails(Mode::Attributes, Filter::None, 20, 260));
        assert!(fails(Mode::Indices, Filter::None, 20, 1) && fails(Mode::Triangles, Filter::None, 20, 2));
        assert!(fails(Mode::Attributes, Filter::Quaternion, 20, 4));
    }

    /// The extension's appendix B, for values along the axes and in between.
    #[test]
    fn filters_make_unit_vectors_quaternions_and_floats() {
        assert_eq!(octahedral([127.0, 0.0, 127.0], 127.0), [127.0, 0.0, 0.0]);
        assert_eq!(octahedral([0.0, 0.0, 127.0], 127.0), [0.0, 0.0, 127.0]);
        // The corner of the square is the other pole.
        assert_eq!(octahedral([-127.0, 127.0, 127.0], 127.0).map(f32::abs), [0.0, 0.0, 127.0]);
        let third = octahedral([1.0, -1.0, 3.0], 32767.0);
        assert_eq!(third, [18918.0, -18918.0, 18918.0]);
        assert_eq!(quaternion([0, 0, 0, 0x7ff]), [0, 0, 0, 32767]);
        // Two components of 1/√2, of which the first is left out.
        assert_eq!(quaternion([0x7ff, 0, 0, 0x7fc]), [23170, 23170, 0, 0]);
        let stream = |value: u32| {
            let mut data = vec![0xa0, 0, 0, 0, 0];
            data.extend([0; 28]);
            data.extend(value.to_le_bytes());
            data
        };
        // 3 · 2⁻¹
        let bytes = decode(Mode::Attributes, Filter::Exponential, 1, 4, &stream(0xff00_0003)).unwrap();
        assert_eq!(bytes, 1.5f32.to_le_bytes());
    }
}
