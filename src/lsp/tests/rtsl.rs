//! Hover, outline and messages of RTSL.

use super::{client, hover, marked_as, outline};
use lsp_types::HoverContents;

fn shown(text: &str) -> Option<String> {
    let (snapshot, position) = marked_as("untitled:a.rtsl", text);
    match hover(&snapshot, position, &client())?.contents {
        HoverContents::Markup(m) => Some(m.value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_renderers_state_is_explained() {
    let text = shown("class A : rt_Material; void shade() { rt_SampleColor = color(rt_|HitDistance); }");
    let text = text.expect("a variable of the renderer");
    assert!(text.starts_with("```rtsl\nfloat rt_HitDistance\n```\nHow far"), "{text}");
    assert!(text.contains("Set in: generateRay."), "{text}");
    let text = shown("class A : rt_|Light; void illumination() { }").expect("an interface");
    assert!(text.starts_with("```rtsl\nvoid illumination()\n```"), "{text}");
}

#[test]
fn classes_methods_and_variables_show_their_heads_and_comments() {
    let text = |marked: &str| {
        let all = "float half_of(float x) { return x / 2.; }\n// A base.\nclass A : rt_Texture;\nprivate unit vec3 axis;\n// Twice.\nfloat twice(float x) { return 2. * x; }\nclass B : A;\nvoid lookup() { rt_FloatTextureValue = twice(half_of(axis.x)); }";
        shown(&all.replacen(&marked.replace('|', ""), marked, 1))
    };
    assert_eq!(text("class |A").as_deref(), Some("```rtsl\nclass A : rt_Texture;\n```\nA base."));
    assert_eq!(text("class B : |A").as_deref(), Some("```rtsl\nclass A : rt_Texture;\n```\nA base."));
    assert_eq!(text("tw|ice(half").as_deref(), Some("```rtsl\nfloat twice(float x)\n```\nTwice."));
    assert_eq!(text("|half_of(axis").as_deref(), Some("```rtsl\nfloat half_of(float x)\n```"));
    assert_eq!(text("(|axis").as_deref(), Some("```rtsl\nprivate unit vec3 axis\n```"));
    assert_eq!(text("|return x"), None);
}

#[test]
fn mistakes_are_told_and_the_outline_has_what_can_be_read() {
    let (snapshot, _) =
        marked_as("untitled:a.rtsl", "class A : rt_Material; public color c; void shade() { rt_SampleColor = d; }|");
    let said: Vec<&str> = snapshot.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(said.len() == 1 && said[0].contains('d'), "{said:?}");
    let symbols = outline(&snapshot);
    let names: Vec<&str> = symbols[0].children.iter().flatten().map(|s| &*s.name).collect();
    assert_eq!((&*symbols[0].name, &names[..]), ("A", &["c", "shade"][..]));
}
