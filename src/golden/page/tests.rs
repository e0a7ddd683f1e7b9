use super::*;
use crate::annotations::github;
use crate::junit;
use crate::list::Facts;
use crate::outcome::{Cause, Render};
use crate::tolerance::Criterion;
use std::path::Path;

const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\u{1b}[2J\u{202e}";

fn entry(name: &str, status: Status) -> Entry {
    let render = Render { size: [4, 3], spp: 4.into(), device: "RPU (CPU, AVX2)".into(), seconds: 0.25 };
    let outcome = match status {
        Status::Error => Outcome::error(Cause::Scene, "an error", "error: it\n  --> a.sl:3:4\n", 0.1),
        status => Outcome { status, reason: String::new(), ..Outcome::rendered(render, "") },
    };
    let case = Case {
        name: name.to_string(),
        scene: format!("{name}.rib").into(),
        frame: None,
        options: Vec::new(),
        backend: "rpu".to_string(),
        reference: format!("references/{name}.exr").into(),
        criterion: Criterion::Default,
        facts: Facts { seed: 7, ..Facts::default() },
        fault: None,
    };
    let command = format!("shadewright render {name}.rib");
    Entry { case, id: name.to_string(), outcome, unchanged: false, command }
}

fn image(bytes: usize) -> Vec<Shown> {
    let address = format!("data:image/png;base64,{}", "A".repeat(bytes));
    vec![Shown { kind: ImageKind::Render, size: [4, 3], scale: 1, address }]
}

fn page(entries: &[Entry], bytes: usize) -> String {
    document(&Header { source: "scenes".into(), ..Header::default() }, entries, &mut |_| Some(image(bytes)))
}

#[test]
fn nothing_of_a_file_becomes_markup() {
    let mut hostile = entry(HOSTILE, Status::Error);
    hostile.outcome.reason = HOSTILE.to_string();
    hostile.outcome.messages = HOSTILE.to_string();
    hostile.command = HOSTILE.to_string();
    let header =
        Header { source: HOSTILE.into(), notes: vec![HOSTILE.into()], folder: HOSTILE.into(), ..Header::default() };
    let page = document(&header, &[hostile], &mut |_| None);
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn what_stands_between_backticks_is_code() {
    assert_eq!(prose("no `<a>` in `b`, it's `"), "no <code>&lt;a&gt;</code> in <code>b</code>, it&#39;s `");
    assert_eq!((&*prose(""), &*prose("a"), &*prose("``")), ("", "a", "<code></code>"));
}

#[test]
fn the_page_names_no_other_place() {
    let page = page(&[entry("a", Status::Failed)], 8);
    for place in ["http:", "https:", "//fonts", "@import", "url(", "<link rel=\"stylesheet", "<iframe"] {
        assert!(!page.contains(place), "{place}");
    }
    assert!(page.contains("default-src 'none'; img-src data:;"));
}

#[test]
fn only_so_many_images_that_passed_are_on_the_page() {
    let entries: Vec<Entry> = (0..MAX_PASSED + 5).map(|i| entry(&format!("p{i}"), Status::Passed)).collect();
    let page = page(&entries, 8);
    assert_eq!(page.matches("<img ").count(), MAX_PASSED);
    assert!(page.contains("The pixels of 5 images are left out"), "the page says so");
}

#[test]
fn the_page_stays_small_however_many_images_fail() {
    let entries: Vec<Entry> = (0..100).map(|i| entry(&format!("f{i}"), Status::Failed)).collect();
    let page = page(&entries, 1 << 20);
    assert!(page.len() < MAX_IMAGES + (4 << 20), "{}", page.len());
    assert!(page.contains("The pixels of 53 images are left out"));
}

#[test]
fn junit_counts_failures_and_errors_of_each_back_end() {
    let mut on_gpu = entry("b", Status::Error);
    on_gpu.case.backend = "gpu".to_string();
    let entries = [entry("a", Status::Failed), entry("b", Status::Passed), entry("c", Status::New), on_gpu];
    let text = junit::document("scenes", "2026-01-31T00:00:00Z", &entries);
    assert!(
        text.contains(
            "<testsuites name=\"scenes\" tests=\"4\" failures=\"2\" errors=\"1\" skipped=\"0\" time=\"0.850\">"
        ),
        "{text}"
    );
    assert!(text.contains(
        "<testsuite name=\"scenes on rpu\" timestamp=\"2026-01-31T00:00:00Z\" tests=\"3\" failures=\"2\" errors=\"0\""
    ));
    assert!(text.contains("<testcase name=\"b\" classname=\"scenes.rpu\" time=\"0.250\"></testcase>"));
    assert!(
        text.contains("<error type=\"no-image\" message=\"an error\">") && text.contains("<system-err>error: it&#10;")
    );
}

#[test]
fn annotations_lead_to_the_line_of_an_error_and_are_ten_at_most() {
    let lines = github(
        Path::new("tests/golden"),
        &[entry("b", Status::Error), entry("a,1", Status::Failed), entry("c", Status::Passed)],
    );
    assert_eq!(
        lines,
        [
            "::error file=tests/golden/a.sl,line=3,col=4,title=b error on rpu::an error%0Arepeat: shadewright render b.rib",
            "::error file=tests/golden/a%2C1.rib,title=a%2C1 failed on rpu::%0Arepeat: shadewright render a,1.rib",
        ]
    );
    let many: Vec<Entry> = (0..25).map(|i| entry(&format!("f{i}"), Status::Failed)).collect();
    let lines = github(Path::new("."), &many);
    assert_eq!(
        (lines.len(), &*lines[9]),
        (10, "::error title=golden images::16 more images failed: the report has all")
    );
}
