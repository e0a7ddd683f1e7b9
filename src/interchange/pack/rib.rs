//! References of a RIB file to other files: its requests and strings that may name one, with their
//! places. No request has an effect here; `walk` follows them.

use shadewright_base::text::source::{FileId, Span};
use shadewright_lang::{Naming, ShaderRef, registry};
use shadewright_scene::rib_text::{Lexer, Token, folder_and_name, unescape};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Longest string that is taken for a name, in bytes.
const MAX_NAME: usize = 4096;

/// Tokens of a request among which numbers in brackets are kept.
const FIRST: usize = 4;

/// Parts of file names for which readers put the first tile's number.
const TILES: [&str; 3] = ["<UDIM>", "<udim>", "_MAPID_"];

/// A list of folders that a scene sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchPath {
    /// Of shaders.
    Shader,
    /// Of textures.
    Texture,
    /// Of archives.
    Archive,
}

/// A string and where it stands, with its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// The value of the string.
    pub value: Arc<str>,
    /// The place of the string.
    pub span: Span,
}

/// A request that decides which files are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `ReadArchive`, and procedurals that read one.
    Archive(Quoted),
    /// `Option "searchpath"`.
    Search(SearchPath, Quoted),
    /// A shader by a path, whose folder is searched from then on.
    ShaderFolder(Arc<str>),
    /// `ArchiveBegin`, with the events and the place of the archive's requests.
    Inline(Arc<str>, Range<usize>, Range<u32>),
    /// `FrameBegin`.
    FrameBegin(i32),
    /// `FrameEnd`.
    FrameEnd,
    /// `WorldBegin`.
    WorldBegin,
    /// `WorldEnd`.
    WorldEnd,
    /// `Procedural "RunProgram"`, with the program.
    Program(Quoted),
}

/// A string that may name a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The kind of thing that it would name.
    pub kind: NameKind,
    /// The string.
    pub quoted: Quoted,
}

/// The kind of thing that a string would name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// An image, or another file that shaders read.
    Texture,
    /// The same, whose tiles have numbers in their names.
    Tiles,
    /// The file of a shader.
    Shader,
    /// The image that a frame leaves for later ones.
    Display,
    /// A condition, which may compare names.
    Condition,
}

/// The requests and strings of a file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Requests in their order, each with the place of its name.
    pub events: Vec<(Span, Event)>,
    /// Strings in their order.
    pub names: Vec<Name>,
    /// The place of the first request.
    pub first: Option<Span>,
    /// Number of `WorldBegin`.
    pub worlds: usize,
}

/// Reads the requests of a file.
pub fn read(file: FileId, text: &str) -> Contents {
    let mut reader = Reader { out: Contents::default(), strings: HashSet::new(), open: Vec::new() };
    let mut lexer = Lexer::new(file, text, 0..text.len());
    let mut request: Option<(&str, Span)> = None;
    let mut args: Vec<(Token<'_>, Span)> = Vec::new();
    let mut depth = 0usize;
    loop {
        // What is no token is skipped, as the reader of scenes does.
        let Ok((token, span)) = lexer.next_token() else { continue };
        match token {
            Token::Request(word) if depth == 0 || is_request(word) => {
                if let Some((name, at)) = request.replace((word, span)) {
                    reader.request(name, at, &args);
                }
                args.clear();
                depth = 0;
            }
            Token::End => {
                if let Some((name, at)) = request {
                    reader.request(name, at, &args);
                }
                return reader.out;
            }
            // Numbers of arrays name nothing.
            Token::Number(_) if depth > 0 && args.len() > FIRST => {}
            _ => {
                match token {
                    Token::Open => depth += 1,
                    Token::Close => depth = depth.saturating_sub(1),
                    _ => {}
                }
                args.push((token, span));
            }
        }
    }
}

/// True if a word within an array ends it, as the reader of scenes continues after errors.
fn is_request(word: &str) -> bool {
    word == "version" || word.starts_with(|c: char| c.is_ascii_uppercase())
}

struct Reader {
    out: Contents,
    /// Each value once.
    strings: HashSet<Arc<str>>,
    /// The archives within the file that are open: the name, the first event, the first byte.
    open: Vec<(Option<Arc<str>>, usize, u32)>,
}

type Tokens<'t, 'a> = &'t [(Token<'a>, Span)];

impl Reader {
    fn quoted(&mut self, raw: &str, span: Span) -> Quoted {
        let value = unescape(raw);
        let value = match self.strings.get(&*value) {
            Some(known) => known.clone(),
            None => {
                let value: Arc<str> = Arc::from(&*value);
                self.strings.insert(value.clone());
                value
            }
        };
        Quoted { value, span }
    }

    /// The strings of a request in their order, wherever they stand.
    fn strings(&mut self, args: Tokens<'_, '_>) -> Vec<Quoted> {
        let strings =
            args.iter().filter_map(|(token, span)| if let Token::Str(s) = token { Some((*s, *span)) } else { None });
        strings.collect::<Vec<_>>().into_iter().map(|(s, span)| self.quoted(s, span)).collect()
    }

    fn event(&mut self, at: Span, event: Event) {
        self.out.events.push((at, event));
    }

    fn request(&mut self, name: &str, at: Span, args: Tokens<'_, '_>) {
        self.out.first.get_or_insert(at);
        match name {
            "ReadArchive" => {
                if let Some(archive) = self.strings(args).into_iter().next() {
                    self.event(at, Event::Archive(archive));
                }
            }
            "Procedural" => self.procedural(at, args),
            "Procedural2" => {
                let is_archive = self.strings(args).first().is_some_and(|kind| &*kind.value == "DelayedReadArchive2");
                let named = self.parameters(args).into_iter().find(|(name, _)| last_word(name) == "filename");
                if let Some(archive) = named.filter(|_| is_archive).and_then(|(_, values)| values.into_iter().next()) {
                    self.event(at, Event::Archive(archive));
                }
            }
            "ArchiveBegin" => {
                let archive = self.strings(args).into_iter().next().map(|name| name.value);
                let start = args.last().map_or(at.end, |(_, span)| span.end);
                // Known when the archive ends.
                self.event(at, Event::Inline(Arc::default(), 0..0, 0..0));
                self.open.push((archive, self.out.events.len(), start));
            }
            "ArchiveEnd" => {
                if let Some((archive, first, start)) = self.open.pop() {
                    let events = first..self.out.events.len();
                    let archive = archive.unwrap_or_default();
                    self.out.events[first - 1].1 = Event::Inline(archive, events, start..at.start);
                }
            }
            "FrameBegin" => {
                let number =
                    args.iter().find_map(|(token, _)| if let Token::Number(n) = token { Some(*n) } else { None });
                if let Some(number) = number {
                    self.event(at, Event::FrameBegin(number as i32));
                }
            }
            "FrameEnd" => self.event(at, Event::FrameEnd),
            "WorldBegin" => {
                self.out.worlds += 1;
                self.event(at, Event::WorldBegin);
            }
            "WorldEnd" => self.event(at, Event::WorldEnd),
            "Option" => self.option(at, args),
            "Attribute" => {
                // The others name no file.
                if self.strings(args).first().is_some_and(|group| &*group.value == "user") {
                    self.names(&args[1..], NameKind::Texture);
                }
            }
            "Display" => {
                if let Some(display) = self.strings(args).into_iter().next() {
                    self.out.names.push(Name { kind: NameKind::Display, quoted: display });
                }
            }
            "IfBegin" | "ElseIf" => {
                let conditions = self.strings(args).into_iter();
                self.out.names.extend(conditions.map(|quoted| Name { kind: NameKind::Condition, quoted }));
            }
            "Declare"
            | "ArchiveRecord"
            | "Hider"
            | "ErrorHandler"
            | "CoordinateSystem"
            | "CoordSysTransform"
            | "ScopedCoordinateSystem"
            | "Camera"
            | "Orientation"
            | "Quantize"
            | "PixelFilter" => {}
            "Surface" | "Displacement" | "Atmosphere" | "Interior" | "Exterior" | "Shader" | "LightSource"
            | "AreaLightSource" | "Imager" | "Geometry" | "Projection" => {
                self.shader(name, at, args);
                self.names(args, NameKind::Texture);
            }
            "Pattern" => self.names(args, NameKind::Tiles),
            _ => self.names(args, NameKind::Texture),
        }
    }

    fn procedural(&mut self, at: Span, args: Tokens<'_, '_>) {
        let mut strings = self.strings(args).into_iter();
        let kind = strings.next().map(|kind| kind.value);
        match (kind.as_deref(), strings.next()) {
            (Some("DelayedReadArchive"), Some(archive)) => self.event(at, Event::Archive(archive)),
            (Some("RunProgram"), Some(program)) => self.event(at, Event::Program(program)),
            _ => {}
        }
    }

    fn option(&mut self, at: Span, args: Tokens<'_, '_>) {
        match self.strings(args).first().map(|group| group.value.clone()).as_deref() {
            Some("searchpath") => {
                let first = args.iter().position(|(token, _)| matches!(token, Token::Str(_))).map_or(0, |i| i + 1);
                for (name, values) in self.parameters(&args[first..]) {
                    let search = match last_word(&name) {
                        "shader" => SearchPath::Shader,
                        "texture" => SearchPath::Texture,
                        "archive" => SearchPath::Archive,
                        _ => continue,
                    };
                    // Another number of strings is an error, and has no effect.
                    if let [value] = values.as_slice() {
                        self.event(at, Event::Search(search, value.clone()));
                    }
                }
            }
            Some("user") => self.names(&args[1..], NameKind::Texture),
            _ => {}
        }
    }

    /// The first string of a request, where it is a shader.
    fn shader(&mut self, request: &str, at: Span, args: Tokens<'_, '_>) {
        let Some(quoted) = self.strings(args).into_iter().next() else { return };
        let name = quoted.value.clone();
        let is_shader = match request {
            "Geometry" => ShaderRef::new(&name).is_class(),
            "Projection" => registry::qualified(&name).is_some(),
            _ => true,
        };
        if !is_shader {
            return;
        }
        let is_bare = ShaderRef::new(&name).language.naming() == Naming::Bare;
        if let Some((Some(folder), _)) = folder_and_name(&name).filter(|_| is_bare && request != "Projection") {
            self.event(at, Event::ShaderFolder(folder.into()));
        }
        self.out.names.push(Name { kind: NameKind::Shader, quoted });
    }

    /// The parameters of a list with their strings.
    fn parameters(&mut self, args: Tokens<'_, '_>) -> Vec<(Arc<str>, Vec<Quoted>)> {
        let mut out: Vec<(Arc<str>, Vec<Quoted>)> = Vec::new();
        let (mut depth, mut wants_value) = (0usize, false);
        for (token, span) in args {
            match token {
                Token::Open => depth += 1,
                Token::Close => {
                    depth = depth.saturating_sub(1);
                    wants_value &= depth > 0;
                }
                Token::Str(text) => {
                    let quoted = self.quoted(text, *span);
                    match out.last_mut().filter(|_| wants_value) {
                        Some((_, values)) => values.push(quoted),
                        None => out.push((quoted.value, Vec::new())),
                    }
                    wants_value = !wants_value || depth > 0;
                }
                _ => wants_value &= depth > 0,
            }
        }
        out
    }

    /// Strings that may name a file: those in arrays, and those before another string or the end. A
    /// string before anything else is a parameter's name.
    fn names(&mut self, args: Tokens<'_, '_>, kind: NameKind) {
        let mut depth = 0usize;
        for (i, (token, span)) in args.iter().enumerate() {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Str(text)
                    if is_name(text) && (depth > 0 || matches!(args.get(i + 1), None | Some((Token::Str(_), _)))) =>
                {
                    let quoted = self.quoted(text, *span);
                    let has_tiles = kind == NameKind::Tiles && TILES.iter().any(|part| text.contains(part));
                    let kind = if has_tiles { NameKind::Tiles } else { NameKind::Texture };
                    self.out.names.push(Name { kind, quoted });
                }
                _ => {}
            }
        }
    }
}

/// The name of the first tile of several, as the reader of scenes takes it.
pub fn first_tile(name: &str) -> String {
    TILES.iter().fold(name.to_string(), |name, part| name.replace(part, "1001"))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME && !text.contains('\n')
}

fn last_word(token: &str) -> &str {
    token.trim().rsplit(|c: char| c.is_whitespace() || c == ']').next().unwrap_or_default()
}

/// A string as RIB has it, with its quotes.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Contents {
        read(FileId(0), text)
    }

    fn names(text: &str, kind: NameKind) -> Vec<String> {
        let names = contents(text).names;
        names.iter().filter(|name| name.kind == kind).map(|name| name.quoted.value.to_string()).collect()
    }

    fn events(text: &str) -> Vec<String> {
        let show = |event: &Event| match event {
            Event::Archive(archive) => format!("read {}", archive.value),
            Event::Search(path, value) => format!("{path:?} {}", value.value),
            Event::Program(program) => format!("run {}", program.value),
            Event::Inline(name, events, text) => format!("inline {name} {events:?} {text:?}"),
            other => format!("{other:?}"),
        };
        contents(text).events.iter().map(|(_, event)| show(event)).collect()
    }

    #[test]
    fn requests_that_read_archives_are_found() {
        let text = "ReadArchive \"a.rib\" ReadArchive [\"b\\\"c.rib\"] # ReadArchive \"no.rib\"\n\
            Procedural \"DelayedReadArchive\" [\"d.rib\"] [0 1 0 1 0 1]\n\
            Procedural2 \"DelayedReadArchive2\" \"SimpleBound\" \"float[6] __bound\" [0 1 0 1 0 1] \"string filename\" [\"e.rib\"]\n\
            Procedural \"RunProgram\" [\"grow 3\" \"x\"] [0 1 0 1 0 1]\nProcedural \"DynamicLoad\" [\"f.so\" \"\"] [0]";
        assert_eq!(events(text), ["read a.rib", "read b\"c.rib", "read d.rib", "read e.rib", "run grow 3"]);
    }

    #[test]
    fn search_paths_have_names_with_declarations_or_without() {
        let text = "Option \"searchpath\" \"shader\" \"a:&\" \"string texture\" [\"b\"] \"uniform string archive\" [\"c\"]\n\
            Option \"searchpath\" \"string texture\" [\"d\" \"e\"] \"procedural\" [\"f\"]\nOption \"limits\" \"texture\" [\"g\"]";
        assert_eq!(events(text), ["Shader a:&", "Texture b", "Archive c"]);
    }

    #[test]
    fn an_archive_within_the_file_has_its_requests_after_it() {
        let text = "ArchiveBegin \"x\" ReadArchive \"a.rib\" ArchiveEnd FrameBegin 2 WorldBegin WorldEnd FrameEnd";
        let expected = ["inline x 1..2 16..37", "read a.rib", "FrameBegin(2)", "WorldBegin", "WorldEnd", "FrameEnd"];
        assert_eq!(events(text), expected);
    }

    #[test]
    fn strings_that_may_name_textures_are_those_of_shaders_and_variables() {
        let text = "Surface \"wood\" \"string map\" [\"a.tx\"] \"float k\" [1] \"bump\" \"b.tx\"\n\
            LightSource \"sky\" 1 \"map\" \"c.tx\" \"from\" [0 0 0]\nAttribute \"identifier\" \"name\" [\"no\"]\n\
            Attribute \"user\" \"string t\" [\"d.tx\"]\nOption \"user\" \"string t\" \"e.tx\"\n\
            MakeTexture \"f.tif\" \"f.tx\" \"clamp\" \"clamp\" \"box\" 1 1\nPolygon \"P\" [0 0 0] \"string t\" [\"g.tx\"]\n\
            Display \"out.tif\" \"file\" \"rgb\"";
        let found = names(text, NameKind::Texture);
        for name in ["a.tx", "b.tx", "c.tx", "d.tx", "e.tx", "f.tif", "f.tx", "g.tx"] {
            assert!(found.contains(&name.to_string()), "{name}: {found:?}");
        }
        for name in ["no", "P", "string map", "float k", "from", "out.tif"] {
            assert!(!found.contains(&name.to_string()), "{name}: {found:?}");
        }
        assert_eq!(names(text, NameKind::Shader), ["wood", "sky"]);
        assert_eq!(names(text, NameKind::Display), ["out.tif"]);
    }

    #[test]
    fn shaders_by_paths_add_folders() {
        let text = "Surface \"lib/wood.slo\" Surface \"a.rtsl:A\" Projection \"b.sl:eye\" Projection \"perspective\" \"fov\" 30\n\
            Geometry \"teapot\" Geometry \"c.rtsl:C\" Imager \"..\\\\x\\\\tone\"";
        assert_eq!(names(text, NameKind::Shader), ["lib/wood.slo", "a.rtsl:A", "b.sl:eye", "c.rtsl:C", r"..\x\tone"]);
        assert_eq!(events(text), ["ShaderFolder(\"lib\")", "ShaderFolder(\"../x\")"]);
    }

    #[test]
    fn tiles_have_the_number_of_the_first() {
        let text = "Pattern \"PxrTexture\" \"t\" \"string filename\" [\"a.<UDIM>.tx\"]";
        assert_eq!(names(text, NameKind::Tiles), ["a.<UDIM>.tx"]);
        assert_eq!(first_tile("a.<UDIM>.tx"), "a.1001.tx");
    }

    #[test]
    fn damage_costs_no_more_than_its_request() {
        let text =
            "Sphere 1 [ nan ReadArchive \"a.rib\" \u{1} ] ReadArchive \"b.rib\" Surface \"x\" \"string t\" [\"c.tx";
        assert_eq!(events(text), ["read a.rib", "read b.rib"]);
        assert_eq!(quote("a\\\"b"), "\"a\\\\\\\"b\"");
    }

    #[test]
    fn no_sequence_of_tokens_is_too_much() {
        const WORDS: [&str; 24] = [
            "ReadArchive",
            "Procedural",
            "Procedural2",
            "ArchiveBegin",
            "ArchiveEnd",
            "FrameBegin",
            "Option",
            "Attribute",
            "Surface",
            "Display",
            "IfBegin",
            "Pattern",
            "Polygon",
            "\"searchpath\"",
            "\"user\"",
            "\"string shader\"",
            "\"é.tx\"",
            "\"\"",
            "[",
            "]",
            "7",
            "nan",
            "\"DelayedReadArchive\"",
            "\"RunProgram\"",
        ];
        // A linear congruential generator (Knuth, "Seminumerical Algorithms", §3.3.4).
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..40 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text += WORDS[(state >> 33) as usize % WORDS.len()];
                text.push(' ');
            }
            let found = contents(&text);
            let place = |span: Span| text.get(span.start as usize..span.end as usize).expect("a place in the text");
            assert!(found.names.iter().all(|name| place(name.quoted.span).starts_with('"')));
            for (i, (_, event)) in found.events.iter().enumerate() {
                if let Event::Inline(_, events, part) = event {
                    assert!(events.is_empty() || events.start == i + 1 && events.end <= found.events.len());
                    assert!(part.start <= part.end && part.end as usize <= text.len());
                }
            }
        }
    }
}
