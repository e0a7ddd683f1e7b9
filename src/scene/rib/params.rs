//! Parameter lists: declarations (`Declare` and inline), and values checked against them (RISpec
//! 3.2, §3).

use super::super::shader::is_private;
use super::args::Args;
use super::reader::Reader;
use glam::{Mat4, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use std::collections::HashMap;

/// Where over a primitive a value may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimvarClass {
    /// One value for the primitive.
    Constant,
    /// One a face.
    Uniform,
    /// One a parametric corner, interpolated linearly.
    Varying,
    /// One a control point; for polygons and quadrics as varying.
    Vertex,
    /// One a face and vertex, interpolated linearly.
    FaceVarying,
    /// One a face and vertex, interpolated as class vertex is.
    FaceVertex,
}

impl PrimvarClass {
    /// The word in a declaration.
    pub fn name(self) -> &'static str {
        match self {
            PrimvarClass::Constant => "constant",
            PrimvarClass::Uniform => "uniform",
            PrimvarClass::Varying => "varying",
            PrimvarClass::Vertex => "vertex",
            PrimvarClass::FaceVarying => "facevarying",
            PrimvarClass::FaceVertex => "facevertex",
        }
    }
}

/// A declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `float`
    Float,
    /// `integer`
    Integer,
    /// `string`
    String,
    /// `color`
    Color,
    /// `point`
    Point,
    /// `vector`
    Vector,
    /// `normal`
    Normal,
    /// `hpoint`
    HPoint,
    /// `matrix`
    Matrix,
}

const TYPES: [(&str, Type); 10] = [
    ("float", Type::Float),
    ("integer", Type::Integer),
    ("int", Type::Integer),
    ("string", Type::String),
    ("color", Type::Color),
    ("point", Type::Point),
    ("vector", Type::Vector),
    ("normal", Type::Normal),
    ("hpoint", Type::HPoint),
    ("matrix", Type::Matrix),
];

const CLASSES: [(&str, PrimvarClass); 6] = [
    ("constant", PrimvarClass::Constant),
    ("uniform", PrimvarClass::Uniform),
    ("varying", PrimvarClass::Varying),
    ("vertex", PrimvarClass::Vertex),
    ("facevarying", PrimvarClass::FaceVarying),
    ("facevertex", PrimvarClass::FaceVertex),
];

impl Type {
    /// The word in a declaration.
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, t)| *t == self).map_or("float", |(n, _)| n)
    }

    /// Numbers (or strings) in one value.
    pub fn size(self) -> usize {
        match self {
            Type::Float | Type::Integer | Type::String => 1,
            Type::Color | Type::Point | Type::Vector | Type::Normal => 3,
            Type::HPoint => 4,
            Type::Matrix => 16,
        }
    }
}

/// `class type[array]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The storage class; uniform where none was written.
    pub class: PrimvarClass,
    /// The type of an element.
    pub ty: Type,
    /// Number of elements; 1 where it is no array.
    pub array: usize,
    /// True if it is an array, if of one element.
    pub is_array: bool,
}

impl Declaration {
    /// Numbers (or strings) in one value of the class.
    pub fn size(&self) -> usize {
        self.ty.size() * self.array
    }

    /// `class type[array]` as it would be written.
    pub fn describe(&self) -> String {
        let array = if self.is_array { format!("[{}]", self.array) } else { String::new() };
        format!("{} {}{array}", self.class.name(), self.ty.name())
    }

    /// Parses the words of a declaration, `[class] type[n]`; `None` when they are none.
    pub fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('[', " [ ").replace(']', " ] ");
        let mut words = spaced.split_whitespace().peekable();
        let lookup = |w: &&str| CLASSES.iter().find(|(n, _)| n == w).map(|(_, c)| *c);
        let class = words.peek().and_then(lookup);
        if class.is_some() {
            words.next();
        }
        let word = words.next()?;
        let ty = TYPES.iter().find(|(n, _)| *n == word)?.1;
        let (array, is_array) = match words.next() {
            None => (1, false),
            Some("[") => {
                let n: usize = words.next()?.parse().ok()?;
                if words.next() != Some("]") || words.next().is_some() || !(1..=65_536).contains(&n) {
                    return None;
                }
                (n, true)
            }
            Some(_) => return None,
        };
        Some(Self { class: class.unwrap_or(PrimvarClass::Uniform), ty, array, is_array })
    }
}

/// How a declaration looks, for messages.
pub const DECLARATION_HINT: &str = "a declaration is `[class] type[n]`: class one of constant, uniform, varying, vertex, \
    facevarying, facevertex; type one of float, integer, string, color, point, vector, normal, hpoint, matrix";

/// The names that are declared: RI's own and those of `Declare`.
pub struct Declarations {
    names: HashMap<String, Declaration>,
}

impl Default for Declarations {
    /// RISpec 3.2, table 3.1 and the standard shaders' parameters (appendix A).
    fn default() -> Self {
        let standard = [
            ("Ka Kd Ks Kr Km roughness intensity coneangle conedeltaangle beamdistribution", "uniform float"),
            ("distance mindistance maxdistance amplitude fov creaseangle maxdepth minwidth sphere", "uniform float"),
            ("lightcolor specularcolor background bgcolor color", "uniform color"),
            ("from to", "uniform point"),
            (
                "texturename shadername mapname name shader texture archive shadows sense coordinatesystem",
                "uniform string",
            ),
            ("P", "vertex point"),
            ("Pw", "vertex hpoint"),
            ("Pz", "vertex float"),
            ("N", "varying normal"),
            ("Np", "uniform normal"),
            ("Cs Os", "varying color"),
            ("s t", "varying float"),
            ("st", "varying float[2]"),
            ("u v", "varying float"),
            ("width", "varying float"),
            ("constantwidth", "constant float"),
        ];
        let names = standard.iter().flat_map(|(names, declaration)| {
            let declaration = Declaration::parse(declaration);
            names.split(' ').filter_map(move |n| declaration.map(|d| (n.to_string(), d)))
        });
        Self { names: names.collect() }
    }
}

impl Declarations {
    /// Declares or redeclares a name.
    pub fn declare(&mut self, name: &str, declaration: Declaration) {
        self.names.insert(name.to_string(), declaration);
    }

    /// Finds the declaration that a parameter's token stands for: a declared name, or an inline
    /// declaration with a name.
    fn resolve(&self, token: &str) -> Option<(String, Declaration)> {
        let token = token.trim();
        if let Some(d) = self.names.get(token) {
            return Some((token.to_string(), *d));
        }
        let split = token.rfind(|c: char| c.is_whitespace() || c == ']')?;
        let (declaration, name) = token.split_at(split + token[split..].chars().next().map_or(0, char::len_utf8));
        Declaration::parse(declaration).filter(|_| !name.is_empty()).map(|d| (name.to_string(), d))
    }
}

/// Values as they were written.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers of any type but integer.
    Floats(Vec<f32>),
    /// Integers.
    Integers(Vec<i32>),
    /// Strings.
    Strings(Vec<String>),
}

impl Values {
    /// How many numbers or strings.
    pub fn len(&self) -> usize {
        match self {
            Values::Floats(v) => v.len(),
            Values::Integers(v) => v.len(),
            Values::Strings(v) => v.len(),
        }
    }
}

/// One parameter of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name of the parameter.
    pub name: String,
    /// The declaration of the parameter.
    pub declaration: Declaration,
    /// The values, not yet counted.
    pub values: Values,
    /// Where its name stands.
    pub name_span: Span,
    /// Where its values stand.
    pub value_span: Span,
}

impl Param {
    /// Checks that there are values for `count` of the class.
    ///
    /// # Errors
    ///
    /// When there are more or fewer.
    pub fn expect(&self, count: usize, of_what: &str) -> Result<(), Diagnostic> {
        let (size, found) = (self.declaration.size(), self.values.len());
        if found == count * size {
            return Ok(());
        }
        let unit = if matches!(self.values, Values::Strings(_)) { "string" } else { "number" };
        let expected = if size == 1 || count == 1 {
            format!("{}", count * size)
        } else {
            format!("{} ({count} × {size})", count * size)
        };
        let plural = if count * size == 1 { "" } else { "s" };
        Err(Diagnostic::error(format!(
            "`{}` is `{}` and needs {expected} {unit}{plural} here, but has {found}",
            self.name,
            self.declaration.describe()
        ))
        .at(self.value_span, format!("expected {} {unit}{plural}, found {found}", count * size))
        .hint(format!("{} means {of_what}", self.declaration.class.name())))
    }

    /// The numbers in threes, where the type has three; else none.
    pub fn triples(&self) -> Vec<Vec3> {
        match &self.values {
            Values::Floats(v) => v.chunks_exact(3).map(Vec3::from_slice).collect(),
            _ => Vec::new(),
        }
    }

    /// The floats; integers are converted.
    pub fn floats(&self) -> Vec<f32> {
        match &self.values {
            Values::Floats(v) => v.clone(),
            Values::Integers(v) => v.iter().map(|&i| i as f32).collect(),
            Values::Strings(_) => Vec::new(),
        }
    }

    /// The matrices.
    pub fn matrices(&self) -> Vec<Mat4> {
        match &self.values {
            Values::Floats(v) => v.chunks_exact(16).map(Mat4::from_cols_slice).collect(),
            _ => Vec::new(),
        }
    }

    /// The strings.
    pub fn strings(&self) -> &[String] {
        match &self.values {
            Values::Strings(v) => v,
            _ => &[],
        }
    }

    /// The first float, if there is one.
    pub fn float(&self) -> Option<f32> {
        self.floats().first().copied()
    }
}

/// A parameter that nothing declares: its values have the type in which they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Undeclared {
    /// The name of the parameter.
    pub name: String,
    /// Floats or strings.
    pub values: Values,
    /// Where its name stands.
    pub name_span: Span,
    /// Where its values stand.
    pub value_span: Span,
}

impl Undeclared {
    /// The parameter as one value of its own type and number.
    pub fn into_param(self) -> Param {
        let Self { name, values, name_span, value_span } = self;
        let ty = if matches!(values, Values::Strings(_)) { Type::String } else { Type::Float };
        let array = values.len();
        let declaration = Declaration { class: PrimvarClass::Uniform, ty, array, is_array: array != 1 };
        Param { name, declaration, values, name_span, value_span }
    }
}

/// A parameter list.
#[derive(Debug, Default)]
pub struct ParamList {
    /// The parameters that a `Declare` request, the specification or the list itself declares. A
    /// name that occurs twice has its last values.
    pub declared: Vec<Param>,
    /// The others, likewise.
    pub undeclared: Vec<Undeclared>,
}

/// Reads a request's parameter list up to the next request. A parameter that is undeclared or has
/// values of another type is reported and left out; see [`is_private`] for names that are not
/// reported.
///
/// # Errors
///
/// When there is no parameter list.
pub fn read_params(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<Vec<Param>, Diagnostic> {
    let ParamList { declared, undeclared } = read_param_list(r, args)?;
    for p in undeclared.iter().filter(|p| !is_private(&p.name)) {
        r.error_once(&format!("undeclared {}", p.name), undeclared_error(&p.name, p.name_span));
    }
    Ok(declared)
}

/// [`read_params`] for those who know the types of undeclared parameters otherwise.
///
/// # Errors
///
/// When there is no parameter list.
pub fn read_param_list(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<ParamList, Diagnostic> {
    let (mut known, mut unknown) = (LastOfName::default(), LastOfName::default());
    while let Some((token, name_span)) = args.parameter_name()? {
        match r.declarations.resolve(&token) {
            Some((name, declaration)) => {
                let values = match declaration.ty {
                    Type::String => args.string_values().map(|(v, s)| (Values::Strings(v), s)),
                    Type::Integer => args.integer_values().map(|(v, s)| (Values::Integers(v), s)),
                    _ => args.float_values().map(|(v, s)| (Values::Floats(v), s)),
                };
                known.forget(&name);
                match values {
                    Ok((values, value_span)) => {
                        known.put(name.clone(), Param { name, declaration, values, name_span, value_span });
                    }
                    // A primitive without its positions is none.
                    Err(d) if matches!(&*name, "P" | "Pw" | "Pz") => return Err(d),
                    Err(d) if args.skip_values()? => r.error(d),
                    Err(d) => return Err(d),
                }
            }
            None => {
                let (values, value_span) = args.untyped_values()?;
                let name = token.trim();
                if name.contains(char::is_whitespace) {
                    r.error_once(&format!("declaration {name}"), undeclared_error(name, name_span));
                    continue;
                }
                unknown.put(name.to_string(), Undeclared { name: name.to_string(), values, name_span, value_span });
            }
        }
    }
    Ok(ParamList { declared: known.into_list(), undeclared: unknown.into_list() })
}

/// Parameters in their order, of each name the last.
struct LastOfName<T> {
    list: Vec<Option<T>>,
    /// Where each name is.
    at: HashMap<String, usize>,
}

impl<T> Default for LastOfName<T> {
    fn default() -> Self {
        Self { list: Vec::new(), at: HashMap::new() }
    }
}

impl<T> LastOfName<T> {
    /// Takes the parameter of a name out of the list.
    fn forget(&mut self, name: &str) {
        if let Some(at) = self.at.remove(name) {
            self.list[at] = None;
        }
    }

    fn put(&mut self, name: String, param: T) {
        self.forget(&name);
        self.at.insert(name, self.list.len());
        self.list.push(Some(param));
    }

    fn into_list(self) -> Vec<T> {
        self.list.into_iter().flatten().collect()
    }
}

fn undeclared_error(token: &str, span: Span) -> Diagnostic {
    if token.contains(char::is_whitespace) {
        return Diagnostic::error(format!("`{token}` is not a declaration and a name"))
            .at(span, "skipped")
            .hint(DECLARATION_HINT);
    }
    Diagnostic::error(format!("the parameter `{token}` is not declared")).at(span, "of unknown type, skipped").hint(
        format!(
            "give its type in place, as in \"uniform float {token}\", or before with Declare \"{token}\" \"uniform float\""
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_have_an_optional_class_and_array_size() {
        let d = |text| Declaration::parse(text);
        assert_eq!(
            d("color"),
            Some(Declaration { class: PrimvarClass::Uniform, ty: Type::Color, array: 1, is_array: false })
        );
        assert_eq!(
            d("varying float[2]"),
            Some(Declaration { class: PrimvarClass::Varying, ty: Type::Float, array: 2, is_array: true })
        );
        assert_eq!(
            d(" facevarying  normal "),
            Some(Declaration { class: PrimvarClass::FaceVarying, ty: Type::Normal, array: 1, is_array: false })
        );
        assert_eq!(d("float [ 3 ]").map(|d| d.size()), Some(3));
        assert_eq!(d("varying"), None);
        assert_eq!(d("uniform quaternion"), None);
        assert_eq!(d("float[0]"), None);
        assert_eq!(d("float[2] x"), None);
    }

    #[test]
    fn a_token_is_a_declared_name_or_an_inline_declaration() {
        let mut names = Declarations::default();
        assert_eq!(names.resolve("Kd").map(|d| d.1.ty), Some(Type::Float));
        assert_eq!(names.resolve("frequency"), None);
        names.declare(
            "frequency",
            Declaration { class: PrimvarClass::Uniform, ty: Type::Float, array: 1, is_array: false },
        );
        assert!(names.resolve("frequency").is_some());
        let (name, d) = names.resolve("varying float[2] st").unwrap();
        assert_eq!((name.as_str(), d.describe().as_str()), ("st", "varying float[2]"));
        assert_eq!(names.resolve("float[2]st").map(|d| d.0), Some("st".to_string()));
        assert_eq!(names.resolve("uniform float"), None);
    }
}
