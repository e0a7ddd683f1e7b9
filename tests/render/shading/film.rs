//! Where the image lies in its format, and its background.

use crate::shading::Case;

/// A surface that shows where it is.
const PLACE: (&str, &str) = ("place", "surface place() { Oi = 1; Ci = color (0.5 + xcomp(P), 0.5 + ycomp(P), 0); }");

/// Nothing before the camera, and an imager.
macro_rules! behind_nothing {
    ($parameter:literal) => {
        Case {
            name: concat!("the imager background takes its color as ", $parameter),
            shaders: &[],
            options: concat!("Imager \"background\" \"", $parameter, "\" [0.25 0.5 0.75]"),
            world: "Translate 9 0 0 SQUARE",
            expected: [0.25, 0.5, 0.75, 1.0],
            tolerance: 0.0,
        }
    };
}

pub const FILM: &[Case] = &[
    behind_nothing!("background"),
    behind_nothing!("bgcolor"),
    behind_nothing!("color"),
    Case {
        name: "an image of the format's shape fills it",
        shaders: &[PLACE],
        options: "FrameAspectRatio 1",
        world: "Surface \"place\" SQUARE",
        expected: [0.5, 0.5, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a wider image lies at the top of the format, with square pixels",
        shaders: &[PLACE],
        options: "FrameAspectRatio 1.25",
        world: "Surface \"place\" SQUARE",
        // The image is four fifths as high as the format, from y = 1 to -1: its pixels are 2.5 wide.
        expected: [0.5, 0.5 + 1.0 - 1.25, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "beside a narrower image the format is empty, whatever the imager paints",
        shaders: &[PLACE],
        options: "FrameAspectRatio 0.25 Imager \"background\" \"color\" [1 1 1]",
        world: "Surface \"place\" SQUARE",
        expected: [0.0; 4],
        tolerance: 0.0,
    },
];
