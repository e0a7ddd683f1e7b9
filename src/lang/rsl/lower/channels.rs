//! Channels of textures (RISpec 3.2, section 15.7): `texture("file"[2])`, `texture(name[2])`. The
//! channel is an option of the function, written after the name.

use super::super::builtins::{CHANNEL, NamedOption};
use super::*;

/// The name of a texture with a channel after it.
pub(super) enum TextureName {
    String(ExprId),
    Variable(LValue),
}

impl Body<'_, '_> {
    /// The name and the channel in the first argument of a call, where the function takes a channel
    /// and one is given.
    pub(super) fn channel_of(&self, options: &[NamedOption], first: Option<&ExprId>) -> Option<(TextureName, ExprId)> {
        if !options.iter().any(|o| o.name == CHANNEL) {
            return None;
        }
        match &self.ast().expr(*first?).kind {
            ExprKind::Channel(name, channel) => Some((TextureName::String(*name), *channel)),
            ExprKind::Index(place) => {
                let (&channel, indices) = place.indices.split_last()?;
                let is_name = self.scopes.find(&place.name.name)?.ty.indexed(indices.len()) == Some(SourceType::String);
                let variable = LValue { indices: indices.to_vec(), ..place.clone() };
                is_name.then_some((TextureName::Variable(variable), channel))
            }
            _ => None,
        }
    }

    /// The value of a texture's name.
    pub(super) fn texture_name(&mut self, name: &TextureName) -> Lower<Typed> {
        match name {
            TextureName::String(e) => self.value_as(*e, SourceType::String),
            TextureName::Variable(place) => {
                let place = self.place(place)?;
                Ok(self.read_place(&place))
            }
        }
    }

    /// Reports a channel where there is no texture.
    pub(super) fn no_channel<T>(&mut self, span: Span) -> Lower<T> {
        let d = Diagnostic::error("a channel can be selected in texture lookups only");
        self.error(d.at(span, "an indexed string").hint("as in `texture(name[2], s, t)`"))
    }
}
