//! `MotionBegin`: motion blocks (RISpec 3.2, §6).
//!
//! A scene is read as it is at one time. Of a motion block that leaves one request, whose numbers
//! lie between those of the two that surround the time; so whatever can be said in a request can
//! move: transforms, points, radii, colors. Rotations are turned by angles between the given ones
//! as they are angles; of matrices, rotations are blended as such (Shoemake & Duff 1992) where they
//! are made of a scale and a rotation, else their numbers are.

use super::args::Args;
use super::lexer::Token;
use super::reader::Reader;
use glam::DMat4;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// Most tokens in one motion block, 40 bytes each.
const MAX_TOKENS: usize = 1 << 23;

/// Most times of one motion block.
const MAX_TIMES: usize = 64;

/// A request and its arguments.
type Statement<'a> = Vec<(Token<'a>, Span)>;

/// `MotionBegin [times]`
pub fn motion_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (times, _) = args.float_values()?;
    if times.is_empty() || times.len() > MAX_TIMES || !times.is_sorted_by(|a, b| a < b) {
        return Err(args.error(format!("the times must rise, and there must be 1 to {MAX_TIMES} of them")));
    }
    let mut statements = statements(args)?;
    let mut times = times.as_slice();
    if statements.len() != times.len() {
        r.error(args.error(format!("the block has {} requests for {} times", statements.len(), times.len())));
        let both = statements.len().min(times.len());
        statements.truncate(both);
        times = &times[..both];
    }
    let time = r.time();
    let before = times.partition_point(|&t| t <= time).clamp(1, times.len().max(2) - 1) - 1;
    r.moves |= times.len() > 1;
    let Some(to) = statements.get(before + 1) else {
        args.replay(statements.into_iter().next().unwrap_or_default());
        return Ok(());
    };
    let from = &statements[before];
    let share = ((time - times[before]) / (times[before + 1] - times[before])).clamp(0.0, 1.0);
    let blended = blend(from, to, f64::from(share)).unwrap_or_else(|at| {
        r.error(
            Diagnostic::error("the requests of a motion block differ in more than their numbers")
                .at(at, "this is another one, or has more or fewer arguments")
                .also(args.span, "in this block: it stands still"),
        );
        from.clone()
    });
    args.replay(blended);
    Ok(())
}

/// `MotionEnd` without a block.
pub fn motion_end(_: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    Err(args.error("no motion block is open here"))
}

/// The requests up to `MotionEnd`, which is taken.
fn statements<'a>(args: &mut Args<'_, 'a>) -> Result<Vec<Statement<'a>>, Diagnostic> {
    let mut statements: Vec<Statement<'a>> = Vec::new();
    let mut tokens = 0;
    loop {
        let (token, at) = args.token()?;
        tokens += 1;
        match (token, statements.last_mut()) {
            (Token::Request("MotionEnd"), _) => return Ok(statements),
            (Token::End, _) => {
                return Err(Diagnostic::error("`MotionBegin` is never closed")
                    .at(args.span, "opened here")
                    .hint("add the missing `MotionEnd`"));
            }
            (Token::Request(_), _) => statements.push(vec![(token, at)]),
            (_, Some(statement)) => statement.push((token, at)),
            (_, None) => return Err(args.error("a request must follow the times")),
        }
        if tokens > MAX_TOKENS {
            return Err(args.error(format!("a motion block of more than {MAX_TOKENS} words and numbers")));
        }
    }
}

/// The request between two; an error is the place where they differ in more than a number.
fn blend<'a>(from: &Statement<'a>, to: &Statement<'a>, share: f64) -> Result<Statement<'a>, Span> {
    let last = |statement: &Statement<'a>| statement.last().map(|t| t.1);
    if from.len() != to.len() {
        return Err(last(to).or(last(from)).unwrap_or_default());
    }
    let mut blended = Vec::with_capacity(from.len());
    for (&(a, at), &(b, other)) in from.iter().zip(to) {
        let token = match (a, b) {
            (Token::Number(a), Token::Number(b)) => Token::Number(a + (b - a) * share),
            (a, b) if a == b => a,
            _ => return Err(other),
        };
        blended.push((token, at));
    }
    if let Some((Token::Request("Transform" | "ConcatTransform"), _)) = from.first()
        && let (Some(a), Some(b)) = (matrix(from), matrix(to))
        && let Some(between) = rigid_blend(a, b, share)
    {
        let mut numbers = between.to_cols_array().into_iter();
        for (token, _) in &mut blended {
            if let Token::Number(value) = token {
                *value = numbers.next().unwrap_or(*value);
            }
        }
    }
    Ok(blended)
}

fn matrix(statement: &Statement<'_>) -> Option<DMat4> {
    let numbers: Vec<f64> =
        statement.iter().filter_map(|(t, _)| if let Token::Number(n) = t { Some(*n) } else { None }).collect();
    Some(DMat4::from_cols_array(&numbers.try_into().ok()?))
}

/// The matrix between two that scale, rotate and move, by its parts; `None` where they do something
/// else.
fn rigid_blend(a: DMat4, b: DMat4, share: f64) -> Option<DMat4> {
    let parts = |m: DMat4| {
        let (scale, rotation, translation) = m.to_scale_rotation_translation();
        let again = DMat4::from_scale_rotation_translation(scale, rotation, translation);
        let size = m.to_cols_array().into_iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        again.abs_diff_eq(m, 1e-5 * size).then_some((scale, rotation, translation))
    };
    let ((s0, r0, t0), (s1, r1, t1)) = (parts(a)?, parts(b)?);
    Some(DMat4::from_scale_rotation_translation(s0.lerp(s1, share), r0.slerp(r1, share), t0.lerp(t1, share)))
}
