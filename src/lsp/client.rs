//! The abilities of the editor on the other side, from its `initialize` request.

use super::text::Encoding;
use lsp_types::{ClientCapabilities, Documentation, MarkupContent, MarkupKind, PositionEncodingKind};

/// The abilities of a client that change answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The unit that columns count.
    pub encoding: Encoding,
    /// True if completions may leave places to fill in.
    pub snippets: bool,
    /// True if hover may be formatted.
    pub markdown_hover: bool,
    /// True if documentation of completions and signatures may be formatted.
    pub markdown_documentation: bool,
    /// True if a diagnostic may point to more than one place.
    pub related_information: bool,
    /// True if the outline may be a tree.
    pub hierarchical_outline: bool,
    /// True if the parameter of a signature may be given by its place in the label.
    pub label_offsets: bool,
    /// True if the client can be asked to watch files.
    pub watches_files: bool,
}

impl Client {
    /// Reads the capabilities.
    pub fn new(capabilities: &ClientCapabilities) -> Self {
        let has_markdown = |kinds: Option<&Vec<MarkupKind>>| kinds.is_some_and(|k| k.contains(&MarkupKind::Markdown));
        let document = capabilities.text_document.as_ref();
        let completion = document.and_then(|d| d.completion.as_ref()).and_then(|c| c.completion_item.as_ref());
        let hover = document.and_then(|d| d.hover.as_ref());
        let signature = document.and_then(|d| d.signature_help.as_ref()?.signature_information.as_ref());
        let symbols = document.and_then(|d| d.document_symbol.as_ref());
        let files = capabilities.workspace.as_ref().and_then(|w| w.did_change_watched_files.as_ref());
        Self {
            encoding: encoding(capabilities),
            snippets: completion.and_then(|c| c.snippet_support).unwrap_or(false),
            markdown_hover: has_markdown(hover.and_then(|h| h.content_format.as_ref())),
            markdown_documentation: has_markdown(completion.and_then(|c| c.documentation_format.as_ref())),
            related_information: document
                .and_then(|d| d.publish_diagnostics.as_ref()?.related_information)
                .unwrap_or(false),
            hierarchical_outline: symbols.and_then(|s| s.hierarchical_document_symbol_support).unwrap_or(false),
            label_offsets: signature
                .and_then(|s| s.parameter_information.as_ref()?.label_offset_support)
                .unwrap_or(false),
            watches_files: files.and_then(|f| f.dynamic_registration).unwrap_or(false),
        }
    }

    /// Text for completions and signatures.
    pub fn documentation(&self, text: impl Into<String>) -> Documentation {
        let kind = if self.markdown_documentation { MarkupKind::Markdown } else { MarkupKind::PlainText };
        Documentation::MarkupContent(MarkupContent { kind, value: text.into() })
    }
}

/// Bytes where the client offers them, for they are cheapest here; else the protocol's usual.
fn encoding(capabilities: &ClientCapabilities) -> Encoding {
    let offered = capabilities.general.as_ref().and_then(|g| g.position_encodings.as_deref()).unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) {
        return Encoding::Utf8;
    }
    match offered.contains(&PositionEncodingKind::UTF32) && !offered.contains(&PositionEncodingKind::UTF16) {
        true => Encoding::Utf32,
        false => Encoding::Utf16,
    }
}
