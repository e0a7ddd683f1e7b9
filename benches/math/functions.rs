//! The transcendental functions of the standard library: what is fitted to make them, in
//! `src/lang/stdlib/exact.sl` and `fast.sl`, and where they are measured.

use super::fit::{Form, hermite};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, FRAC_PI_6, LN_2, LOG2_E, PI, SQRT_2};

/// A polynomial of the exact set.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// The function of the library whose text has the coefficients as the constants of `p`.
    pub holder: &'static str,
    /// The formula that is approximated, for people.
    pub what: &'static str,
    /// The fit.
    pub form: Form,
}

/// The terms of an odd function with slope 1 at 0.
const ODD: Form = Form { function: f64::sin, domain: [0.0, 1.0], fixed: &[(1, 1.0)], first: 3, step: 2, terms: 0 };
/// The mantissas less 1 that logarithms are fitted to.
const MANTISSAS: [f64; 2] = [FRAC_1_SQRT_2 - 1.0, SQRT_2 - 1.0];

/// The exact set.
pub const EXACT: [Exact; 8] = [
    Exact {
        holder: "__sin_reduced",
        what: "sin r",
        form: Form { function: f64::sin, domain: [0.0, FRAC_PI_2], terms: 4, ..ODD },
    },
    Exact {
        holder: "tan",
        what: "tan r",
        form: Form { function: f64::tan, domain: [0.0, FRAC_PI_4], terms: 6, ..ODD },
    },
    Exact {
        holder: "__atan_reduced",
        what: "atan r",
        form: Form { function: f64::atan, domain: [0.0, 1.0], terms: 8, ..ODD },
    },
    Exact {
        holder: "__asin_reduced",
        what: "asin s",
        form: Form { function: f64::asin, domain: [0.0, 0.5], terms: 5, ..ODD },
    },
    Exact {
        holder: "exp",
        what: "exp r",
        form: Form {
            function: f64::exp,
            domain: [-LN_2 / 2.0, LN_2 / 2.0],
            fixed: &[(0, 1.0), (1, 1.0)],
            first: 2,
            step: 1,
            terms: 5,
        },
    },
    Exact {
        holder: "exp2",
        what: "2^r",
        form: Form { function: f64::exp2, domain: [-0.5, 0.5], fixed: &[(0, 1.0)], first: 1, step: 1, terms: 6 },
    },
    Exact {
        holder: "log.f.f",
        what: "log(1 + r)",
        form: Form { function: f64::ln_1p, domain: MANTISSAS, fixed: &[(1, 1.0)], first: 2, step: 1, terms: 8 },
    },
    // The slope at 0 is no float: 1 is exact, and the rest of it is rounded more finely. `pow`
    // multiplies the error: that is worth a term.
    Exact {
        holder: "log2",
        what: "log2(1 + r)",
        form: Form {
            function: |r| r.ln_1p() * LOG2_E,
            domain: MANTISSAS,
            fixed: &[(1, 1.0)],
            first: 1,
            step: 1,
            terms: 10,
        },
    },
];

/// A cubic of the fast set.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    /// The function of the library whose text has the coefficients.
    pub holder: &'static str,
    /// The formula that is approximated, for people.
    pub what: &'static str,
    /// Place, value and slope at both ends of the domain.
    pub ends: [[f64; 3]; 2],
}

/// The ends of a domain around 0 of an odd function.
const fn odd(end: f64, value: f64, slope: f64) -> [[f64; 3]; 2] {
    [[-end, -value, slope], [end, value, slope]]
}

/// The fast set.
pub const FAST: [Fast; 6] = [
    Fast { holder: "__fastsin_reduced", what: "sin πu", ends: odd(0.5, 1.0, 0.0) },
    Fast { holder: "fasttan", what: "tan πu/2", ends: odd(0.5, 1.0, PI) },
    Fast { holder: "__fastatan_reduced", what: "atan r", ends: odd(1.0, FRAC_PI_4, 0.5) },
    // The slope is 1/√¾.
    Fast { holder: "__fastasin_reduced", what: "asin s", ends: odd(0.5, FRAC_PI_6, 1.154_700_538_379_251_5) },
    Fast { holder: "fastexp2", what: "2^r", ends: [[0.0, 1.0, LN_2], [1.0, 2.0, 2.0 * LN_2]] },
    Fast { holder: "fastlog2", what: "log2(1 + r)", ends: [[0.0, 0.0, LOG2_E], [1.0, 1.0, LOG2_E / 2.0]] },
];

impl Function {
    /// The function's polynomial; none of a function that is made of others.
    pub fn polynomial(&self) -> Option<&'static Exact> {
        EXACT.iter().find(|exact| exact.holder == self.holder)
    }
}

impl Fast {
    /// The coefficients that are not 0, from the lowest order on.
    pub fn coefficients(&self) -> Vec<f32> {
        hermite(self.ends).into_iter().filter(|c| c.abs() > 1e-12).map(|c| c as f32).collect()
    }
}

/// A function that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name in the tables.
    pub name: &'static str,
    /// The call in RSL, of `x`.
    pub call: &'static str,
    /// The function whose text has its polynomial: [`Exact::holder`].
    pub holder: &'static str,
    /// The exact value.
    pub exact: fn(f64) -> f64,
    /// Every float of these ranges is an argument, or some of them.
    pub ranges: &'static [[f32; 2]],
    /// The most that it may be off, in units of the last place of the exact value.
    pub ulps: f64,
    /// The times of figure 4.17 of Olano 1998, in µs: exact and fast.
    pub times: Option<[f64; 2]>,
}

/// The least argument near 0: below, functions are straight lines to less than a rounding error.
const SMALL: f32 = 1.0 / 1024.0;

/// The functions whose arguments are measured where the domain is folded to, and next to that.
pub const FUNCTIONS: [Function; 12] = [
    Function {
        name: "sin",
        call: "sin(x)",
        holder: "__sin_reduced",
        exact: f64::sin,
        ranges: &[[SMALL, FRAC_PI_2 as f32]],
        ulps: 2.5,
        times: Some([81.36, 45.64]),
    },
    Function {
        name: "cos",
        call: "cos(x)",
        holder: "__sin_reduced",
        exact: f64::cos,
        ranges: &[[SMALL, 3.141_592_5]],
        ulps: 2.5,
        times: Some([81.36, 48.77]),
    },
    Function {
        name: "tan",
        call: "tan(x)",
        holder: "tan",
        exact: f64::tan,
        ranges: &[[SMALL, FRAC_PI_2 as f32]],
        ulps: 3.5,
        times: Some([93.25, 52.65]),
    },
    Function {
        name: "asin",
        call: "asin(x)",
        holder: "__asin_reduced",
        exact: f64::asin,
        ranges: &[[SMALL, 1.0]],
        ulps: 4.0,
        times: Some([78.52, 47.50]),
    },
    Function {
        name: "acos",
        call: "acos(x)",
        holder: "__asin_reduced",
        exact: f64::acos,
        ranges: &[[-1.0, -SMALL], [SMALL, 1.0]],
        ulps: 3.0,
        times: Some([78.52, 47.50]),
    },
    Function {
        name: "atan",
        call: "atan(x)",
        holder: "__atan_reduced",
        exact: f64::atan,
        ranges: &[[SMALL, 64.0]],
        ulps: 3.0,
        times: Some([66.41, 35.34]),
    },
    Function {
        name: "atan2",
        call: "atan(x, -0.75)",
        holder: "__atan_reduced",
        exact: |y| y.atan2(-0.75),
        ranges: &[[SMALL, 64.0]],
        ulps: 2.5,
        times: Some([66.17, 35.15]),
    },
    Function {
        name: "exp",
        call: "exp(x)",
        holder: "exp",
        exact: f64::exp,
        ranges: &[[-0.346_573_6, -SMALL], [SMALL, 0.346_573_6]],
        ulps: 1.5,
        times: Some([53.37, 37.86]),
    },
    Function {
        name: "exp2",
        call: "exp2(x)",
        holder: "exp2",
        exact: f64::exp2,
        ranges: &[[-0.5, -SMALL], [SMALL, 0.5]],
        ulps: 1.5,
        times: Some([51.09, 35.58]),
    },
    Function {
        name: "log",
        call: "log(x)",
        holder: "log.f.f",
        exact: f64::ln,
        ranges: &[[0.5, 2.0]],
        ulps: 2.0,
        times: Some([57.76, 21.57]),
    },
    Function {
        name: "log2",
        call: "log2(x)",
        holder: "log2",
        exact: f64::log2,
        ranges: &[[0.5, 2.0]],
        ulps: 2.0,
        times: Some([57.68, 21.49]),
    },
    // What figure 4.17 does not have: a result from 1e-3 to 1e3.
    Function {
        name: "pow",
        call: "pow(x, 2.2)",
        holder: "",
        exact: |x| x.powf(2.2f32.into()),
        ranges: &[[0.0625, 16.0]],
        ulps: 12.0,
        times: None,
    },
];
