//! The list of what is rendered: a file in TOML, or the scenes of a folder.
//!
//! Takes a path and gives [`Case`]s, one for each image and back end. Mistakes in the file are
//! diagnostics with its lines, all of them in one run. It does not know which options a render has,
//! nor how scenes are read: [`Context`] answers that.

use super::glob::{GlobError, Pattern};
use super::tolerance::Criterion;
use crate::compare::Metric;
use clap::ValueEnum;
use shadewright_base::disk;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::{FileId, SourceMap, Span, decode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, map::Map};

/// The name of a list in its folder.
pub const LIST_NAME: &str = "golden.toml";

/// Extensions of scenes.
pub const SCENES: [&str; 5] = ["rib", "gltf", "glb", "obj", "ply"];

/// Extensions of references, in the order in which they are looked for.
pub const IMAGES: [&str; 5] = ["exr", "png", "hdr", "pnm", "ppm"];

/// Where references are unless the list says otherwise.
const REFERENCES: &str = "references/{name}";

/// Most bytes of a list.
const MAX_BYTES: u64 = 4 << 20;

/// Most images of a list.
const MAX_CASES: usize = 20_000;

/// Most bytes between the quotes of the name of an archive.
const MAX_QUOTED: usize = 1024;

/// One image to render and to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of the image: that of the scene, and the number of the frame if there is one.
    pub name: String,
    /// The scene's file, relative to the list's folder.
    pub scene: PathBuf,
    /// The frame of the scene.
    pub frame: Option<i32>,
    /// More words of the command line that renders it.
    pub options: Vec<String>,
    /// The back end, by its name.
    pub backend: String,
    /// The reference, relative to the list's folder: where it is, or where it would be.
    pub reference: PathBuf,
    /// How far the render may be from it.
    pub criterion: Criterion,
    /// The facts about the render that its options give.
    pub facts: Facts,
    /// Why it cannot be rendered, where the name of the file says so already.
    pub fault: Option<String>,
}

/// The facts about a render that its options give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The seed of its samples.
    pub seed: u32,
    /// True if it may depend on more than files: the scene may run programs.
    pub runs_programs: bool,
    /// True if errors in the scene are accepted.
    pub is_lenient: bool,
}

/// Why options cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The message about what is wrong.
    pub message: String,
    /// The word that is wrong, if it is one.
    pub word: Option<String>,
    /// The hints on what to do.
    pub hints: Vec<String>,
}

/// The context of a list: the names and functions that it refers to.
pub struct Context<'a> {
    /// The names of the back ends.
    pub backends: &'a [&'a str],
    /// Checks the options of a render.
    pub check_options: &'a dyn Fn(&[String]) -> Result<Facts, OptionError>,
    /// The bytes of a scene's file, decompressed.
    pub read_scene: &'a dyn Fn(&Path) -> Option<Vec<u8>>,
}

/// The images to render.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The folder that paths and options are relative to.
    pub folder: PathBuf,
    /// The list's file, if there is one.
    pub file: Option<PathBuf>,
    /// The images, in the order of the list.
    pub cases: Vec<Case>,
    /// Files of the folder that are no scenes of their own, each with one that names it.
    pub archives: Vec<(String, String)>,
}

impl List {
    /// Reads a list, or the list in a folder, or makes one of the scenes in a folder. `backends`
    /// take the place of those of the list if there are any.
    ///
    /// # Errors
    /// All that is wrong with the list.
    pub fn open(
        path: &Path,
        backends: &[String],
        context: &Context<'_>,
        sources: &mut SourceMap,
    ) -> Result<List, Diagnostics> {
        let own = path.join(LIST_NAME);
        if path.is_dir() && !own.is_file() {
            let reader = Reader::new(FileId::default(), path, backends, context);
            return reader.finish(&Map::new(), None);
        }
        let file = if path.is_dir() { own } else { path.to_path_buf() };
        let text = read(&file)?;
        let id = sources.add(file.display().to_string(), Some(&file), text.clone());
        let folder = shadewright_image::file::folder_of(&file);
        let mut reader = Reader::new(id, folder, backends, context);
        let (table, errors) = DeTable::parse_recoverable(&text);
        for error in errors {
            let at = reader.span(&error.span().unwrap_or(0..0));
            reader.diagnostics.push(Diagnostic::error(format!("this is not TOML: {}", error.message())).at(at, ""));
        }
        if reader.diagnostics.has_errors() {
            return Err(reader.diagnostics);
        }
        reader.finish(table.get_ref(), Some(file))
    }
}

/// The text of a list's file.
fn read(file: &Path) -> Result<String, Diagnostics> {
    let shown = file.display();
    let failed = |e: std::io::Error| Diagnostic::error(format!("`{shown}`: {e}"));
    match disk::read(file, MAX_BYTES) {
        Ok(bytes) => Ok(decode(&bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => {
            Err(Diagnostic::error(format!("`{shown}` is no list: it has more than {} MiB", MAX_BYTES >> 20)).into())
        }
        Err(e) => Err(failed(e).into()),
    }
}

/// A value with its place.
#[derive(Clone, Debug)]
struct Placed<T> {
    value: T,
    span: Span,
}

/// Words of a command line.
type Words = Placed<Vec<Placed<String>>>;

/// How far renders may be from their references.
#[derive(Clone, Debug, Default)]
struct Tolerances {
    /// On back ends that are not named.
    others: Criterion,
    of_backend: BTreeMap<String, Criterion>,
}

/// The settings of a scene, and the defaults for all scenes.
#[derive(Clone, Debug, Default)]
struct Settings {
    options: Option<Words>,
    backends: Option<Vec<Placed<String>>>,
    tolerance: Option<Tolerances>,
    reference: Option<Placed<String>>,
}

impl Settings {
    /// The settings of a scene, and for the rest the defaults.
    fn or(self, defaults: &Settings) -> Settings {
        Settings {
            options: self.options.or_else(|| defaults.options.clone()),
            backends: self.backends.or_else(|| defaults.backends.clone()),
            tolerance: self.tolerance.or_else(|| defaults.tolerance.clone()),
            reference: self.reference.or_else(|| defaults.reference.clone()),
        }
    }
}

/// The keys of [`Settings`].
const SETTINGS: [&str; 4] = ["backends", "options", "reference", "tolerance"];

/// The former name of the key `backends`, which is still read.
const OLD_BACKENDS: &str = "machines";

/// The former name of the placeholder `{backend}`, which is still read.
const OLD_BACKEND: &str = "machine";

/// Reads the values of a list.
struct Reader<'a> {
    file: FileId,
    folder: PathBuf,
    backends: &'a [String],
    context: &'a Context<'a>,
    diagnostics: Diagnostics,
    cases: Vec<Case>,
    /// Which scene each name of an image comes from.
    names: BTreeMap<String, PathBuf>,
    /// Which image each reference is of.
    references: BTreeMap<PathBuf, String>,
}

type Value<'i> = Spanned<DeValue<'i>>;

impl<'a> Reader<'a> {
    fn new(file: FileId, folder: &Path, backends: &'a [String], context: &'a Context<'a>) -> Self {
        Self {
            file,
            folder: folder.to_path_buf(),
            backends,
            context,
            diagnostics: Diagnostics::new(),
            cases: Vec::new(),
            names: BTreeMap::new(),
            references: BTreeMap::new(),
        }
    }

    fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    fn error(&mut self, message: impl Into<String>, at: Span, label: impl Into<String>, hint: Option<&str>) {
        let error = Diagnostic::error(message).at(at, label);
        self.diagnostics.push(hint.into_iter().fold(error, Diagnostic::hint));
    }

    /// All cases of a list's table, or of the folder where the table has no scenes.
    fn finish(mut self, table: &DeTable<'_>, file: Option<PathBuf>) -> Result<List, Diagnostics> {
        let mut defaults = Settings::default();
        let mut scenes = None;
        self.each_key(table, &[&SETTINGS[..], &["scene"]].concat(), "the list", |reader, key, value| match key {
            "scene" => scenes = Some(value.clone()),
            _ => reader.setting(&mut defaults, key, value),
        });
        let mut archives = Vec::new();
        match scenes {
            None => archives = self.read_folder(&defaults),
            Some(value) => match value.get_ref() {
                DeValue::Array(scenes) => {
                    for scene in scenes.iter() {
                        self.scene(scene, &defaults);
                    }
                }
                _ => {
                    let at = self.span(&value.span());
                    self.error("`scene` must be an array of tables", at, "", Some("each scene begins with [[scene]]"));
                }
            },
        }
        if self.diagnostics.has_errors() {
            return Err(self.diagnostics);
        }
        Ok(List { folder: self.folder, file, cases: self.cases, archives })
    }

    /// Gives each key of a table that is known to `take`, and reports the others.
    fn each_key<'i>(
        &mut self,
        table: &DeTable<'i>,
        known: &[&str],
        of: &str,
        mut take: impl FnMut(&mut Self, &str, &Value<'i>),
    ) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let at = self.span(&key.span());
            if name == OLD_BACKENDS && known.contains(&"backends") {
                if table.keys().any(|other| other.get_ref().as_ref() == "backends") {
                    let message = format!("`{OLD_BACKENDS}` is the old name of `backends`, which is given too");
                    self.error(message, at, "", Some("remove one of them"));
                    continue;
                }
                take(self, "backends", value);
                continue;
            }
            if known.contains(&name) {
                take(self, name, value);
                continue;
            }
            let near = closest(name, known.iter().copied());
            let label = near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
            let mut known = known.to_vec();
            known.sort_unstable();
            let hint = format!("{of} has the keys {}", known.join(", "));
            self.error(format!("unknown key `{name}`"), at, label, Some(&hint));
        }
    }

    /// Reads one of [`SETTINGS`].
    fn setting(&mut self, into: &mut Settings, key: &str, value: &Value<'_>) {
        match key {
            "options" => {
                if let DeValue::String(text) = value.get_ref() {
                    let at = self.span(&value.span());
                    let words: Vec<String> = text.split_whitespace().map(|word| format!("{word:?}")).collect();
                    let hint = format!("for example [{}]", words.join(", "));
                    self.error("`options` must be a list of words", at, "this is one string", Some(&hint));
                    return;
                }
                let span = self.span(&value.span());
                into.options = self.strings(key, value).map(|value| Placed { value, span });
            }
            "backends" => into.backends = self.backends_of(value),
            "reference" => into.reference = self.string(key, value),
            _ => into.tolerance = self.tolerances(value),
        }
    }

    fn string(&mut self, key: &str, value: &Value<'_>) -> Option<Placed<String>> {
        let span = self.span(&value.span());
        match value.get_ref() {
            DeValue::String(text) if text.is_empty() => self.error(format!("`{key}` is empty"), span, "", None),
            DeValue::String(text) => return Some(Placed { value: text.to_string(), span }),
            other => self.error(format!("`{key}` must be a string"), span, kind(other), None),
        }
        None
    }

    /// A list of strings, or one of them alone.
    fn strings(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<Placed<String>>> {
        match value.get_ref() {
            DeValue::Array(values) => values.iter().map(|value| self.string(key, value)).collect(),
            _ => self.string(key, value).map(|one| vec![one]),
        }
    }

    fn backends_of(&mut self, value: &Value<'_>) -> Option<Vec<Placed<String>>> {
        let mut names = self.strings("backends", value)?;
        if names.is_empty() {
            let at = self.span(&value.span());
            self.error("`backends` is empty", at, "", Some("for example [\"rpu\"]"));
            return None;
        }
        for i in 0..names.len() {
            let Placed { value: name, span } = names[i].clone();
            names[i].value = self.backend(&name, span)?;
            if names[..i].iter().any(|other| other.value == names[i].value) {
                self.error(format!("`{name}` is named twice"), span, "", None);
                return None;
            }
        }
        Some(names)
    }

    /// The name of a back end as the program writes it.
    fn backend(&mut self, name: &str, at: Span) -> Option<String> {
        let known = self.context.backends;
        if let Some(own) = known.iter().find(|own| own.eq_ignore_ascii_case(name)) {
            return Some(own.to_string());
        }
        let label = closest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let hint = format!("there are {}, as for `render --backend`", known.join(", "));
        self.error(format!("there is no back end `{name}`"), at, label.unwrap_or_default(), Some(&hint));
        None
    }

    fn tolerances(&mut self, value: &Value<'_>) -> Option<Tolerances> {
        let table = match value.get_ref() {
            DeValue::Table(table) => table,
            _ => return self.criterion(value).map(|others| Tolerances { others, ..Tolerances::default() }),
        };
        if table.keys().any(|key| matches!(key.get_ref().as_ref(), "metric" | "threshold")) {
            return self.criterion(value).map(|others| Tolerances { others, ..Tolerances::default() });
        }
        let mut tolerances = Tolerances::default();
        for (key, value) in table {
            let backend = self.backend(key.get_ref(), self.span(&key.span()))?;
            tolerances.of_backend.insert(backend, self.criterion(value)?);
        }
        Some(tolerances)
    }

    fn criterion(&mut self, value: &Value<'_>) -> Option<Criterion> {
        const HINT: &str = "a tolerance is \"exact\", \"default\", or { metric = \"rmse\", threshold = 0.01 }; \
            for some back ends: { rpu = \"exact\", gpu = \"default\" }";
        let span = self.span(&value.span());
        match value.get_ref() {
            DeValue::String(text) if text == "exact" => return Some(Criterion::Exact),
            DeValue::String(text) if text == "default" => return Some(Criterion::Default),
            DeValue::Table(table) => return self.metric(table, span),
            DeValue::String(text) => self.error(format!("there is no tolerance `{text}`"), span, "", Some(HINT)),
            other => self.error("this is no tolerance", span, kind(other), Some(HINT)),
        }
        None
    }

    fn metric(&mut self, table: &DeTable<'_>, span: Span) -> Option<Criterion> {
        let (mut metric, mut threshold) = (None, None);
        let mut is_good = true;
        self.each_key(table, &["metric", "threshold"], "a tolerance by a metric", |reader, key, value| {
            let at = reader.span(&value.span());
            match (key, value.get_ref()) {
                ("metric", _) => {
                    let Some(name) = reader.string(key, value) else { return is_good = false };
                    match Metric::from_str(&name.value, true) {
                        Ok(known) => metric = Some(known),
                        Err(_) => {
                            let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
                            let near = closest(&name.value, names.iter().copied());
                            let label = near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
                            let hint = format!("there are {}", names.join(", "));
                            reader.error(format!("there is no metric `{}`", name.value), at, label, Some(&hint));
                            is_good = false;
                        }
                    }
                }
                (_, DeValue::Float(number)) => threshold = number.as_str().replace('_', "").parse::<f64>().ok(),
                (_, DeValue::Integer(number)) if number.radix() == 10 => {
                    threshold = number.as_str().replace('_', "").parse::<f64>().ok();
                }
                (_, other) => {
                    reader.error("`threshold` must be a number", at, kind(other), None);
                    is_good = false;
                }
            }
        });
        if !is_good {
            return None;
        }
        let threshold = threshold.or(metric.and_then(Metric::default_threshold));
        match (metric, threshold.filter(|threshold| !threshold.is_nan())) {
            (Some(Metric::Z), Some(p)) if !(p > 0.0 && p < 1.0) => {
                self.error("the `threshold` of `z` is a probability, above 0 and below 1", span, "", None);
            }
            (Some(metric), Some(threshold)) => return Some(Criterion::Metric(metric, threshold)),
            (None, _) => {
                self.error("`metric` is missing", span, "", Some("for example { metric = \"rmse\", threshold = 0.01 }"))
            }
            (Some(metric), None) => {
                let hint = format!("for example {{ metric = \"{metric}\", threshold = 0.01 }}");
                self.error(format!("`threshold` is missing: `{metric}` needs one to judge by"), span, "", Some(&hint));
            }
        }
        None
    }

    /// Reads a table of a scene, or of the scenes that a pattern matches.
    fn scene(&mut self, value: &Value<'_>, defaults: &Settings) {
        const KEYS: [&str; 4] = ["exclude", "file", "frames", "name"];
        let span = self.span(&value.span());
        let DeValue::Table(table) = value.get_ref() else {
            return self.error(
                "a scene must be a table",
                span,
                kind(value.get_ref()),
                Some("each begins with [[scene]]"),
            );
        };
        let mut own = Settings::default();
        let (mut file, mut name) = (None, None);
        let (mut exclude, mut frames) = (Vec::new(), Vec::new());
        let errors = self.diagnostics.error_count();
        self.each_key(table, &[&SETTINGS[..], &KEYS].concat(), "a scene", |reader, key, value| match key {
            "file" => file = reader.string(key, value),
            "name" => name = reader.string(key, value),
            "exclude" => exclude = reader.patterns(key, value),
            "frames" => frames = reader.frames(value),
            _ => reader.setting(&mut own, key, value),
        });
        if self.diagnostics.error_count() > errors {
            return;
        }
        let Some(file) = file else {
            return self.error(
                "a scene without `file`",
                span,
                "",
                Some("file = \"scene.rib\", or a pattern: \"*.rib\""),
            );
        };
        let settings = own.or(defaults);
        for scene in self.files(&file, &exclude) {
            self.add(scene, name.as_ref(), &frames, &settings, file.span);
        }
    }

    fn patterns(&mut self, key: &str, value: &Value<'_>) -> Vec<Pattern> {
        let texts = self.strings(key, value).unwrap_or_default();
        texts.iter().filter_map(|text| self.pattern(text)).collect()
    }

    fn pattern(&mut self, text: &Placed<String>) -> Option<Pattern> {
        Pattern::new(&text.value).map_err(|e| self.glob_error(&e, text.span)).ok()
    }

    fn glob_error(&mut self, error: &GlobError, at: Span) {
        self.error(error.to_string(), at, "", None);
    }

    /// The scenes that a pattern matches.
    fn files(&mut self, file: &Placed<String>, exclude: &[Pattern]) -> Vec<PathBuf> {
        let Some(pattern) = self.pattern(file) else { return Vec::new() };
        let mut found = match pattern.files(&self.folder) {
            Ok(found) => found,
            Err(error) => {
                self.glob_error(&error, file.span);
                return Vec::new();
            }
        };
        let is_named = found.iter().any(|path| path.as_os_str() == file.value.as_str());
        // A pattern such as `scenes/*` means scenes.
        found.retain(|path| is_named || is_scene(path));
        if found.is_empty() {
            let looked = self.folder.join(&file.value);
            let is_pattern = file.value.contains(['*', '?', '[']);
            let (message, hint) = match is_pattern {
                true => (format!("no scene matches `{}`", file.value), format!("looked for {}", looked.display())),
                false => (format!("there is no file `{}`", file.value), missing(&looked)),
            };
            self.error(message, file.span, "", Some(&hint));
        }
        found.retain(|path| {
            let path = path.to_string_lossy().replace('\\', "/");
            !exclude.iter().any(|pattern| pattern.matches(&path))
        });
        found
    }

    fn frames(&mut self, value: &Value<'_>) -> Vec<i32> {
        const HINT: &str = "for example 3, \"1..10\" or [1, 5, 9]";
        let at = self.span(&value.span());
        let frames = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok().map(|frame| vec![frame]),
            DeValue::Array(values) => values
                .iter()
                .map(|value| match value.get_ref() {
                    DeValue::Integer(number) => number.as_str().parse().ok(),
                    _ => None,
                })
                .collect(),
            DeValue::String(text) => range(text),
            _ => None,
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = frames.iter().flatten().find(|frame| !seen.insert(**frame)) {
            self.error(format!("frame {twice} is named twice"), at, "", None);
            return Vec::new();
        }
        match frames {
            Some(frames) if frames.is_empty() => self.error("`frames` is empty", at, "", Some(HINT)),
            Some(frames) if frames.len() <= MAX_CASES => return frames,
            Some(_) => self.error(format!("more than {MAX_CASES} frames"), at, "", Some(HINT)),
            None => self.error("these are no frames", at, "", Some(HINT)),
        }
        Vec::new()
    }

    /// Adds the cases of a scene.
    fn add(&mut self, scene: PathBuf, name: Option<&Placed<String>>, frames: &[i32], settings: &Settings, at: Span) {
        // The file's name is that of the image, unless the list has another.
        let is_own = name.is_none_or(|name| name.span == at);
        let fault = match scene.to_str() {
            None => Some("the path of the file is not Unicode".to_string()),
            Some(_) => stem(&scene).filter(|_| is_own).and_then(|stem| name_fault(&stem)),
        };
        if let Some(fault) = fault {
            return self.add_fault(&scene, fault, settings);
        }
        let Some(stem) = stem(&scene) else { return };
        let name = match name {
            Some(name) => match filled(&name.value, &[("stem", &stem)]) {
                Ok(text) => Placed { value: text, span: name.span },
                Err(unknown) => return self.placeholder(&unknown, &["stem"], name.span),
            },
            None => Placed { value: stem.clone(), span: at },
        };
        if let Some(fault) = name_fault(&name.value) {
            let message = format!("`{}` cannot be a name", name.value.escape_debug());
            return self.error(message, name.span, "", Some(&fault));
        }
        let options: Vec<String> =
            settings.options.iter().flat_map(|words| &words.value).map(|w| w.value.clone()).collect();
        let Some(facts) = self.check_options(&options, settings.options.as_ref()) else { return };
        let one = [None];
        let frames: Vec<Option<i32>> =
            if frames.is_empty() { one.to_vec() } else { frames.iter().copied().map(Some).collect() };
        let backends = self.backends(settings);
        let at_name = name.span;
        for frame in frames {
            let name = frame.map_or_else(|| name.value.clone(), |frame| format!("{}.{frame:04}", name.value));
            if let Some(other) = self.names.insert(name.clone(), scene.clone()) {
                let message = match other == scene {
                    true => format!("`{name}` is there twice, both times of `{}`", scene.display()),
                    false => {
                        format!("two scenes are called `{name}`: `{}` and `{}`", other.display(), scene.display())
                    }
                };
                let hint = "give one of them a `name`, or leave it out of the pattern with `exclude`";
                return self.error(message, at_name, "", Some(hint));
            }
            for backend in &backends {
                let Some(reference) = self.reference(settings.reference.as_ref(), &name, &stem, backend, at) else {
                    return;
                };
                if self.cases.len() == MAX_CASES {
                    return self.error(format!("the list has more than {MAX_CASES} images"), at, "", None);
                }
                let tolerances = settings.tolerance.clone().unwrap_or_default();
                let criterion = tolerances.of_backend.get(backend).copied().unwrap_or(tolerances.others);
                self.cases.push(Case {
                    name: name.clone(),
                    scene: scene.clone(),
                    frame,
                    options: options.clone(),
                    backend: backend.clone(),
                    reference,
                    criterion,
                    facts,
                    fault: None,
                });
            }
        }
    }

    /// Where the images of a scene are rendered.
    fn backends(&self, settings: &Settings) -> Vec<String> {
        match (self.backends, &settings.backends) {
            ([], Some(backends)) => backends.iter().map(|backend| backend.value.clone()).collect(),
            ([], None) => vec!["rpu".to_string()],
            (asked, _) => asked.to_vec(),
        }
    }

    /// Adds a scene that cannot be rendered, so that it is an error in the report and no scene passes
    /// unseen.
    fn add_fault(&mut self, scene: &Path, fault: String, settings: &Settings) {
        // Without the quotes around it.
        let shown = format!("{scene:?}");
        let name = shown.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&shown).to_string();
        let fault = format!("{fault}; rename the file, or leave it out with `exclude` in a {LIST_NAME}");
        if self.names.insert(name.clone(), scene.to_path_buf()).is_some() {
            return;
        }
        for backend in self.backends(settings) {
            self.cases.push(Case {
                name: name.clone(),
                scene: scene.to_path_buf(),
                frame: None,
                options: Vec::new(),
                backend,
                reference: PathBuf::new(),
                criterion: Criterion::default(),
                facts: Facts::default(),
                fault: Some(fault.clone()),
            });
        }
    }

    fn check_options(&mut self, options: &[String], words: Option<&Words>) -> Option<Facts> {
        let error = match (self.context.check_options)(options) {
            Ok(facts) => return Some(facts),
            Err(error) => error,
        };
        let Some(words) = words else {
            self.diagnostics.push(Diagnostic::error(error.message));
            return None;
        };
        let is_it = |word: &&Placed<String>| {
            error
                .word
                .as_deref()
                .is_some_and(|wrong| word.value == wrong || word.value.split('=').next() == Some(wrong))
        };
        let at = words.value.iter().find(is_it).map_or(words.span, |word| word.span);
        let diagnostic = Diagnostic::error(error.message).at(at, "");
        self.diagnostics.push(error.hints.into_iter().fold(diagnostic, Diagnostic::hint));
        None
    }

    /// The file of the reference of an image.
    fn reference(
        &mut self,
        template: Option<&Placed<String>>,
        name: &str,
        stem: &str,
        backend: &str,
        scene: Span,
    ) -> Option<PathBuf> {
        let (template, at) = template.map_or((REFERENCES, scene), |template| (&template.value, template.span));
        let known = [("name", name), ("stem", stem), ("backend", backend)];
        let accepted = [&known[..], &[(OLD_BACKEND, backend)]].concat();
        let path = match filled(template, &accepted) {
            Ok(path) => path,
            Err(unknown) => {
                self.placeholder(&unknown, &known.map(|(name, _)| name), at);
                return None;
            }
        };
        let has_extension = IMAGES
            .iter()
            .any(|extension| path.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(extension)));
        let reference = match has_extension {
            true => PathBuf::from(&path),
            false => {
                let files: Vec<PathBuf> = IMAGES.iter().map(|extension| format!("{path}.{extension}").into()).collect();
                let there: Vec<&PathBuf> = files.iter().filter(|file| self.folder.join(file).is_file()).collect();
                if let [one, another, ..] = there[..] {
                    let message =
                        format!("`{name}` has two references: `{}` and `{}`", one.display(), another.display());
                    self.diagnostics.push(Diagnostic::error(message).hint("delete one of them"));
                    return None;
                }
                there.first().map_or_else(|| files[0].clone(), |file| (*file).clone())
            }
        };
        match self.references.get(&reference) {
            Some(other) if other != name => {
                let message = format!("`{other}` and `{name}` have one reference, `{}`", reference.display());
                let hint = "write `{name}` in the `reference`: it has the number of the frame, too";
                self.error(message, at, "", Some(hint));
                return None;
            }
            _ => self.references.insert(reference.clone(), name.to_string()),
        };
        Some(reference)
    }

    fn placeholder(&mut self, unknown: &str, known: &[&str], at: Span) {
        let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
        let hint = format!("there are {}", known.join(", "));
        self.error(format!("unknown placeholder `{{{unknown}}}`"), at, "", Some(&hint));
    }

    /// Adds the scenes that lie in the folder itself, and gives those files that are archives of
    /// others.
    fn read_folder(&mut self, settings: &Settings) -> Vec<(String, String)> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) => {
                let message = format!("`{}`: {error}", self.folder.display());
                self.diagnostics.push(Diagnostic::error(message));
                return Vec::new();
            }
        };
        let files = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
        let files = files.filter(|file| !is_hidden(file) && is_scene(file) && self.folder.join(file).is_file());
        let (mut names, mut nameless) = (Vec::new(), Vec::new());
        for file in files {
            match file.into_os_string().into_string() {
                Ok(name) => names.push(name),
                Err(name) => nameless.push(PathBuf::from(name)),
            }
        }
        names.sort();
        nameless.sort();
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let mut archives: BTreeMap<String, String> = BTreeMap::new();
        for name in names.iter().filter(|name| has_extension(Path::new(name), "rib")) {
            let bytes = (self.context.read_scene)(&self.folder.join(name)).unwrap_or_default();
            for file in quoted_files(&bytes).into_iter().filter(|file| file != name && known.contains(file.as_str())) {
                archives.entry(file).or_insert_with(|| name.clone());
            }
        }
        // Two files that name each other are scenes both.
        let circular: Vec<String> =
            archives.keys().filter(|file| archives.get(&archives[*file]) == Some(file)).cloned().collect();
        circular.iter().for_each(|file| drop(archives.remove(file)));
        let scenes: Vec<&String> = names.iter().filter(|name| !archives.contains_key(*name)).collect();
        for name in &scenes {
            let of_name = |name: &str| stem(Path::new(name));
            let alike = scenes.iter().filter(|other| of_name(other) == of_name(name)).count();
            // Files of one name and several formats are called with their extensions.
            let whole = Placed { value: name.replace(['{', '}'], "_"), span: Span::default() };
            self.add(PathBuf::from(name), (alike > 1).then_some(&whole), &[], settings, Span::default());
        }
        for file in nameless {
            self.add(file, None, &[], settings, Span::default());
        }
        archives.into_iter().collect()
    }
}

/// The kind of a value, as a sentence.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "this is a string",
        DeValue::Integer(_) | DeValue::Float(_) => "this is a number",
        DeValue::Boolean(_) => "this is true or false",
        DeValue::Datetime(_) => "this is a time",
        DeValue::Array(_) => "this is a list",
        DeValue::Table(_) => "this is a table",
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

/// True if a file is a scene by its name.
pub fn is_scene(path: &Path) -> bool {
    SCENES.iter().any(|extension| has_extension(path, extension))
}

/// True if a file is an image by its name.
pub fn is_image(path: &Path) -> bool {
    IMAGES.iter().any(|extension| has_extension(path, extension))
}

/// The name of a file without its extension; `None` where it is not Unicode.
fn stem(path: &Path) -> Option<String> {
    path.file_stem().and_then(|stem| stem.to_str()).map(str::to_string)
}

/// Why a text cannot be the name of an image: folders and a file below the current one.
fn name_fault(text: &str) -> Option<String> {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    if let Some(c) = text.chars().find(|c| matches!(c, '\\' | ':')) {
        return Some(format!("some systems have no `{c}` in names of files"));
    }
    if text.chars().any(char::is_control) {
        return Some("a name has no control characters".to_string());
    }
    (!text.split('/').all(is_part)).then(|| "a name is a relative path without `.` and `..`".to_string())
}

/// Where a missing file was looked for, and one there whose name is nearly the same.
fn missing(path: &Path) -> String {
    let looked = format!("looked for {}", path.display());
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let entries = fs::read_dir(shadewright_image::file::folder_of(path)).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match closest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("{looked}; there is `{near}`"),
        None => looked,
    }
}

/// The frames of `A..B`, both included, or of a number.
fn range(text: &str) -> Option<Vec<i32>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let first: i32 = first.trim().parse().ok()?;
    let last: i32 = last.trim().trim_start_matches('=').parse().ok()?;
    let count = i64::from(last) - i64::from(first) + 1;
    // One more than is accepted tells of more.
    (count > 0).then(|| (first..=last).take(MAX_CASES + 1).collect())
}

/// A text with `{name}` replaced by its value.
///
/// # Errors
/// The first name that is not known.
fn filled(template: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        let (name, behind) = after.split_once('}').ok_or_else(|| after.to_string())?;
        let value = values.iter().find(|(own, _)| *own == name).ok_or_else(|| name.to_string())?;
        filled += value.1;
        rest = behind;
    }
    Ok(filled + rest)
}

/// The names of files that a RIB file has in quotes, without their folders.
fn quoted_files(bytes: &[u8]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut start = None;
    for (i, byte) in bytes.iter().enumerate() {
        match (byte, start) {
            (b'"', None) => start = Some(i + 1),
            (b'"', Some(from)) => {
                let quoted = &bytes[from..i];
                let name = quoted.rsplit(|b| matches!(b, b'/' | b'\\')).next().unwrap_or_default();
                if let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_scene(Path::new(name))) {
                    names.insert(name.to_string());
                }
                start = None;
            }
            // A quote without its other one ends with the line, at the latest after some bytes.
            (b'\n', Some(_)) => start = None,
            (_, Some(from)) if i - from > MAX_QUOTED => start = None,
            _ => {}
        }
    }
    names
}

/// References that no case has: images in folders in which only references lie.
pub fn leftover(list: &List) -> Vec<PathBuf> {
    let cases = || list.cases.iter().filter(|case| case.fault.is_none());
    let used: BTreeSet<&Path> = cases().map(|case| case.reference.as_path()).collect();
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut folders: BTreeSet<PathBuf> = cases().map(|case| folder(&case.reference)).collect();
    for case in &list.cases {
        // Images beside scenes may be their textures.
        folders.remove(&folder(&case.scene));
    }
    let mut left = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(list.folder.join(&folder)).into_iter().flatten().flatten();
        let files = entries.map(|entry| folder.join(entry.file_name()));
        left.extend(files.filter(|file| is_image(file) && !is_hidden(file) && !used.contains(file.as_path())));
    }
    left.sort();
    left
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests;
