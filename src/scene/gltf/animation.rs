//! Animations: the transforms of nodes and the weights of morph targets at a time (glTF 2.0, §3.11
//! and appendix C).
//!
//! A channel that is damaged is left out with a warning, and its property keeps the node's value.

use super::accessor::Elements;
use super::document::Document;
use crate::OpenOptions;
use glam::{Mat4, Quat, Vec3, Vec4};
use gltf::json::accessor::Type;
use gltf::json::animation::{Animation, Channel, Interpolation, Property};
use gltf::json::scene::Node;
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;
use std::collections::HashMap;

/// Frames a second where nobody says otherwise.
const DEFAULT_FPS: f32 = 24.0;
/// Most frames that an animation has.
const MAX_FRAMES: f32 = 1e6;

/// The changes that an animation makes to the nodes at a time.
#[derive(Debug, Default)]
pub struct Pose {
    nodes: HashMap<usize, Change>,
}

/// The properties of a node that are animated.
#[derive(Clone, Debug, Default)]
struct Change {
    translation: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
    weights: Option<Vec<f32>>,
}

impl Pose {
    /// The local transform of a node; a rotation of length zero counts as none.
    pub fn transform(&self, number: usize, node: &Node) -> Mat4 {
        let change = self.nodes.get(&number);
        let moves = change.is_some_and(|c| c.translation.is_some() || c.rotation.is_some() || c.scale.is_some());
        if let Some(matrix) = node.matrix.as_ref().filter(|_| !moves) {
            return Mat4::from_cols_array(matrix);
        }
        let (mut scale, mut rotation, mut translation) = match &node.matrix {
            Some(matrix) => Mat4::from_cols_array(matrix).to_scale_rotation_translation(),
            None => (
                node.scale.map_or(Vec3::ONE, Vec3::from_array),
                node.rotation.map_or(Quat::IDENTITY, |r| Quat::from_array(r.0)),
                node.translation.map_or(Vec3::ZERO, Vec3::from_array),
            ),
        };
        if let Some(change) = change {
            scale = change.scale.unwrap_or(scale);
            rotation = change.rotation.unwrap_or(rotation);
            translation = change.translation.unwrap_or(translation);
        }
        let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
        Mat4::from_scale_rotation_translation(scale, rotation, translation)
    }

    /// The weights of a node's morph targets, where they are animated.
    pub fn weights(&self, number: usize) -> Option<&[f32]> {
        self.nodes.get(&number)?.weights.as_deref()
    }
}

/// The time that the options ask for, in seconds; `None` for the pose without animation.
fn time(options: &OpenOptions) -> Option<f32> {
    let fps = options.fps.unwrap_or(DEFAULT_FPS);
    options.seconds.or(options.frame.map(|frame| frame as f32 / fps)).or(options.animation.as_ref().map(|_| 0.0))
}

/// The pose that the options ask for, and the frames of its animation: from 0 to the one that
/// reaches its end. What is wrong is added to `warnings`.
pub fn pose(document: &Document<'_>, options: &OpenOptions, warnings: &mut Vec<Diagnostic>) -> (Pose, Vec<i32>) {
    let mut pose = Pose::default();
    let Some((number, animation)) = chosen(document, options, warnings) else { return (pose, Vec::new()) };
    let place = Place::new().field("animations").index(number);
    let mut end = 0.0f32;
    for (i, channel) in animation.channels.iter().enumerate() {
        let own = place.field("channels").index(i);
        match apply(document, animation, channel, &own, time(options), &mut pose) {
            Ok(last) => end = end.max(last),
            Err(error) => warnings.push(error.hint("the channel is left out")),
        }
    }
    let fps = options.fps.unwrap_or(DEFAULT_FPS);
    let last = (end * fps - 1e-3).ceil().clamp(0.0, MAX_FRAMES) as i32;
    (pose, (0..=last).collect())
}

/// The animation that the options name, by its name or number, or the first one.
fn chosen<'a>(
    document: &'a Document<'_>,
    options: &OpenOptions,
    warnings: &mut Vec<Diagnostic>,
) -> Option<(usize, &'a Animation)> {
    let all = &document.root.animations;
    let warn = |what: String, hint: String| Diagnostic::warning(format!("`{}`: {what}", document.name)).hint(hint);
    let shown = "the pose without animation is shown".to_string();
    if all.is_empty() && time(options).is_some() {
        warnings.push(warn("it has no animation".to_string(), shown));
        return None;
    }
    let Some(wanted) = &options.animation else { return all.first().map(|first| (0, first)) };
    let by_name = all.iter().position(|a| a.name.as_ref() == Some(wanted));
    let Some(number) = by_name.or(wanted.parse().ok().filter(|&n| n < all.len())) else {
        let names: Vec<String> =
            all.iter().enumerate().map(|(i, a)| a.name.clone().unwrap_or_else(|| i.to_string())).collect();
        let hint = format!("there are: {}", names.join(", "));
        warnings.push(warn(format!("there is no animation `{wanted}`"), hint).hint(shown));
        return None;
    };
    Some((number, &all[number]))
}

/// Applies a channel at a time, if there is one; gives the time of its last keyframe.
fn apply(
    document: &Document<'_>,
    animation: &Animation,
    channel: &Channel,
    place: &Place,
    time: Option<f32>,
    pose: &mut Pose,
) -> Result<f32, Diagnostic> {
    let fail = |what: &str| Err(document.error(place, what));
    let number = channel.sampler.value();
    let Some(sampler) = animation.samplers.get(number) else {
        return fail(&format!("there is no sampler number {number}"));
    };
    let Checked::Valid(path) = channel.target.path else { return fail("it animates an unknown property") };
    let Checked::Valid(interpolation) = sampler.interpolation else { return fail("its interpolation is unknown") };
    let node = document.get(channel.target.node, &place.field("target").field("node"))?;
    let at = place.field("sampler");
    let times = Elements::open(document, sampler.input, &at.field("input"), &[Type::Scalar])?;
    let times: Vec<f32> = (0..times.len()).map(|i| times.floats::<1>(i)[0]).collect();
    let Some(&last) = times.last().filter(|last| last.is_finite() && times.is_sorted()) else {
        return fail("it has no keyframes, or their times do not rise");
    };
    let Some(time) = time else { return Ok(last) };
    let wanted = match path {
        Property::Rotation => Type::Vec4,
        Property::Translation | Property::Scale => Type::Vec3,
        Property::MorphTargetWeights => Type::Scalar,
    };
    let values = Elements::open(document, sampler.output, &at.field("output"), &[wanted])?;
    let targets = match path {
        Property::MorphTargetWeights => target_count(document, node),
        _ => 1,
    };
    let each = targets * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    if targets == 0 || values.len() != times.len() * each {
        return fail(&format!("it has {} values for {} keyframes", values.len(), times.len()));
    }
    let track = Track { times: &times, values: &values, targets, interpolation };
    let sampled: Vec<Vec4> = (0..targets).map(|k| track.sample(time, k, path == Property::Rotation)).collect();
    if sampled.iter().any(|v| !v.is_finite()) {
        return fail("its values are not finite numbers");
    }
    let change = pose.nodes.entry(channel.target.node.value()).or_default();
    match path {
        Property::Translation => change.translation = Some(sampled[0].truncate()),
        Property::Rotation => change.rotation = Some(Quat::from_vec4(sampled[0])),
        Property::Scale => change.scale = Some(sampled[0].truncate()),
        Property::MorphTargetWeights => change.weights = Some(sampled.iter().map(|v| v.x).collect()),
    }
    Ok(last)
}

/// The number of morph targets of a node's mesh.
fn target_count(document: &Document<'_>, node: &Node) -> usize {
    let mesh = node.mesh.and_then(|index: Index<_>| document.root.meshes.get(index.value()));
    let primitive = mesh.and_then(|mesh| mesh.primitives.first());
    primitive.and_then(|p| p.targets.as_ref()).map_or(0, Vec::len)
}

/// Keyframes with their values.
struct Track<'a> {
    /// Ascending, at least one.
    times: &'a [f32],
    values: &'a Elements<'a>,
    /// Values of a keyframe.
    targets: usize,
    interpolation: Interpolation,
}

impl Track<'_> {
    /// Value `k` at a time, which is held before the first keyframe and after the last.
    fn sample(&self, time: f32, k: usize, is_rotation: bool) -> Vec4 {
        let cubic = self.interpolation == Interpolation::CubicSpline;
        // Of a spline each keyframe has its tangents before and after the value.
        let value = |key: usize, part: usize| {
            let each = if cubic { 3 } else { 1 };
            Vec4::from_array(self.values.floats((key * each + part) * self.targets + k))
        };
        let whole = |key: usize| value(key, usize::from(cubic));
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 {
            return whole(0);
        }
        let key = after - 1;
        if after == self.times.len() || self.interpolation == Interpolation::Step {
            return whole(key);
        }
        let step = self.times[after] - self.times[key];
        let t = (time - self.times[key]) / step;
        let (a, b) = (whole(key), whole(after));
        if cubic {
            let (t2, t3) = (t * t, t * t * t);
            let (out, into) = (step * value(key, 2), step * value(after, 0));
            return (2.0 * t3 - 3.0 * t2 + 1.0) * a
                + (t3 - 2.0 * t2 + t) * out
                + (3.0 * t2 - 2.0 * t3) * b
                + (t3 - t2) * into;
        }
        if is_rotation && a.length_squared() > 0.0 && b.length_squared() > 0.0 {
            return Vec4::from(Quat::from_vec4(a.normalize()).slerp(Quat::from_vec4(b.normalize()), t));
        }
        a.lerp(b, t)
    }
}
