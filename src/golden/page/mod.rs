//! The report as one page: HTML with its style, its script and its images inside.
//!
//! Everything that comes from files (names, messages, options) is escaped, and a content security
//! policy allows no script but our own and no request at all. Without scripts the page is a list of
//! all images with their numbers.

use super::images::{ImageKind, Shown};
use super::list::Case;
use super::outcome::{Entry, Number, Outcome, Status};
use shadewright_base::cache::KeyHasher;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Most images that passed whose pixels are on the page.
pub const MAX_PASSED: usize = 40;

/// Most bytes of all images on the page.
pub const MAX_IMAGES: usize = 48 << 20;

/// Most bytes of the messages of an image.
const MAX_MESSAGES: usize = 16 << 10;

/// The facts about the run that the page shows.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The list or folder of scenes.
    pub source: String,
    /// When the run began, in UTC, as ISO 8601 has it.
    pub started: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The program and its version.
    pub program: String,
    /// The folder in which commands run, relative to where the run was started.
    pub folder: String,
    /// Remarks, a line each.
    pub notes: Vec<String>,
}

/// The images that the report shows of an entry, if there are any.
pub type ShownOf<'a> = dyn FnMut(&Entry) -> Option<Vec<Shown>> + 'a;

/// The page. Entries are in the order in which they are shown.
pub fn document(header: &Header, entries: &[Entry], shown_of: &mut ShownOf<'_>) -> String {
    let mut hasher = KeyHasher::new("golden page");
    [&header.source, &header.started].into_iter().for_each(|text| hasher.text(text));
    let nonce = hasher.finish().to_string();
    let mut articles = String::new();
    let (mut passed, mut bytes, mut left_out) = (0, 0, 0);
    for (i, entry) in entries.iter().enumerate() {
        let is_good = entry.outcome.status.is_good();
        let mut shown = Vec::new();
        if !is_good || passed < MAX_PASSED {
            shown = shown_of(entry).unwrap_or_default();
            passed += usize::from(is_good);
        } else if entry.outcome.render.is_some() {
            left_out += 1;
        }
        let size: usize = shown.iter().map(|image| image.address.len()).sum();
        if bytes + size > MAX_IMAGES {
            shown.clear();
            left_out += 1;
        } else {
            bytes += size;
        }
        article(&mut articles, &anchor(i), header, entry, &shown);
    }
    let mut notes = header.notes.clone();
    if left_out > 0 {
        notes.push(format!(
            "The pixels of {left_out} images are left out, so that the page stays small: it has those of {MAX_PASSED} \
             images that passed, and {} MiB. `--only NAME` makes a page of one image.",
            MAX_IMAGES >> 20
        ));
    }
    let mut page = String::with_capacity(articles.len() + STYLE.len() + SCRIPT.len() + 4096 + 400 * entries.len());
    let counts = counts(entries);
    let worst = counts.iter().find(|(_, count)| *count > 0);
    let verdict = match worst {
        Some((status, count)) if !status.is_good() => counted(*count, *status),
        Some(_) => "passed".to_string(),
        None => "no images".to_string(),
    };
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'\">\n\
         <title>{verdict} – golden images of {source}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n",
        source = escaped(&header.source),
    );
    top(&mut page, header, entries, &counts, &notes);
    page += "<div class=\"layout\">\n";
    list(&mut page, entries);
    page += "<main>\n<section class=\"viewer\" aria-label=\"Comparison of images\"></section>\n";
    page += &articles;
    page += "<p class=\"keys\"><kbd>J</kbd> <kbd>K</kbd> next and previous image · <kbd>1</kbd>–<kbd>8</kbd> view · \
             <kbd>D</kbd> amplification · <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom · <kbd>Space</kbd> swap (Blink) · \
             <kbd>/</kbd> filter</p>\n</main>\n</div>\n";
    let _ = write!(page, "<script nonce=\"{nonce}\">\n{SCRIPT}</script>\n</body>\n</html>\n");
    page
}

/// The name by which the page refers to an entry.
fn anchor(number: usize) -> String {
    format!("image-{number}")
}

/// How many entries there are of each status.
pub fn counts(entries: &[Entry]) -> Vec<(Status, usize)> {
    let count = |status| entries.iter().filter(|entry| entry.outcome.status == status).count();
    Status::ALL.into_iter().map(|status| (status, count(status))).collect()
}

/// A number of images: `2 errors`, `3 failed`.
pub fn counted(count: usize, status: Status) -> String {
    let plural = if status == Status::Error && count != 1 { "s" } else { "" };
    format!("{count} {status}{plural}")
}

fn top(page: &mut String, header: &Header, entries: &[Entry], counts: &[(Status, usize)], notes: &[String]) {
    let _ = write!(
        page,
        "<header class=\"top\">\n<h1>Golden images <span class=\"path\">{}</span></h1>\n<ul class=\"counts\">\n",
        escaped(&header.source)
    );
    for (status, count) in counts.iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(page, "<li class=\"badge {status}\">{}</li>", counted(*count, *status));
    }
    let unchanged = entries.iter().filter(|entry| entry.unchanged).count();
    let rendered = entries.len() - unchanged;
    let _ = write!(
        page,
        "</ul>\n<p>{rendered} rendered, {unchanged} unchanged · {} UTC · {:.1} s · {}</p>\n",
        escaped(&header.started.replace('T', " ")),
        header.seconds,
        escaped(&header.program)
    );
    if !notes.is_empty() {
        page.push_str("<ul class=\"notes\">\n");
        for note in notes {
            let _ = writeln!(page, "<li>{}</li>", prose(note));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</header>\n");
}

/// The summary: one row for each entry, which leads to its article.
fn list(page: &mut String, entries: &[Entry]) {
    page.push_str(
        "<nav class=\"list\" aria-label=\"Images\">\n<div class=\"filter\">\
         <input type=\"search\" placeholder=\"Filter (key /)\" aria-label=\"Filter images by name, back end or reason\">\
         <div class=\"states\" role=\"group\" aria-label=\"Outcomes that are listed\"></div></div>\n\
         <table>\n<caption>All images, failures first</caption>\n<tbody>\n",
    );
    for (i, entry) in entries.iter().enumerate() {
        let Entry { case, outcome, unchanged, .. } = entry;
        let status = outcome.status;
        let why = match (outcome.reason.lines().next(), *unchanged) {
            (Some(reason), _) if !reason.is_empty() => reason.to_string(),
            (_, true) => "unchanged".to_string(),
            (_, false) => format!("{:.1} s", outcome.seconds()),
        };
        let _ = writeln!(
            page,
            "<tr><td><a class=\"item\" href=\"#{}\" data-status=\"{status}\"><span class=\"dot {status}\"></span>\
             <span class=\"name\">{}</span><span class=\"backend\">{}</span>\
             <span class=\"why\"><span class=\"visually-hidden\">{status}: </span>{}</span></a></td></tr>",
            anchor(i),
            escaped(&case.name),
            escaped(&case.backend),
            prose(&why)
        );
    }
    page.push_str("</tbody>\n</table>\n<p class=\"nothing\" hidden>No image matches the filter.</p>\n</nav>\n");
}

/// One image: what was found, its pixels, its numbers and how to repeat it.
fn article(page: &mut String, anchor: &str, header: &Header, entry: &Entry, shown: &[Shown]) {
    let Entry { case, outcome, unchanged, command, .. } = entry;
    let Case { name, backend, .. } = case;
    let status = outcome.status;
    let _ = write!(
        page,
        "<article id=\"{anchor}\" class=\"result\">\n<h2>{} <span class=\"backend\">on {}</span> \
         <span class=\"badge {status}\">{status}</span>",
        escaped(name),
        escaped(backend)
    );
    if *unchanged {
        page.push_str(" <span class=\"badge none\">unchanged</span>");
    }
    page.push_str("</h2>\n");
    if !outcome.reason.is_empty() {
        let _ = writeln!(page, "<p class=\"reason\">{}</p>", prose(&outcome.reason));
    }
    page.push_str("<div class=\"viewer-place\"></div>\n");
    if !shown.is_empty() {
        page.push_str("<div class=\"figures\">\n");
        for image in shown {
            figure(page, entry, image);
        }
        page.push_str("</div>\n");
        if let Some(image) = shown.iter().find(|image| image.scale > 1) {
            let by = image.scale;
            let _ = writeln!(
                page,
                "<p class=\"left-out\">The images are shown at 1/{by} of their size; a pixel of a difference is the \
                 largest of {by} × {by}.</p>"
            );
        }
    } else if outcome.render.is_some() {
        page.push_str("<p class=\"left-out\">The pixels are left out of this page.</p>\n");
    }
    page.push_str("<div class=\"columns\">\n");
    numbers(page, &outcome.numbers);
    facts(page, case, outcome);
    page.push_str("</div>\n");
    let folder = match header.folder.as_str() {
        "" | "." => String::new(),
        folder => format!(" in <code>{}</code>", escaped(folder)),
    };
    let _ = writeln!(
        page,
        "<div class=\"block\"><div class=\"block-head\"><h3>Repeat it{folder}</h3>\
         <button type=\"button\" class=\"copy\">Copy</button></div><pre class=\"command\">{}</pre></div>",
        escaped(command)
    );
    if !outcome.details.is_empty() {
        let _ = writeln!(
            page,
            "<div class=\"block\"><h3>Test of the means</h3><pre>{}</pre></div>",
            escaped(&outcome.details)
        );
    }
    if !outcome.messages.is_empty() {
        let end = outcome.messages.floor_char_boundary(MAX_MESSAGES);
        let more = if end < outcome.messages.len() { "\n…" } else { "" };
        let messages = escaped(outcome.messages[..end].trim_end());
        let _ = writeln!(page, "<div class=\"block\"><h3>Messages</h3><pre>{messages}{more}</pre></div>");
    }
    page.push_str("</article>\n");
}

fn figure(page: &mut String, entry: &Entry, image: &Shown) {
    let (kind, caption) = match (image.kind, entry.outcome.status) {
        (ImageKind::Reference, Status::Blessed) => ("reference".to_string(), "Reference before".to_string()),
        (ImageKind::Reference, _) => ("reference".to_string(), "Reference".to_string()),
        (ImageKind::Render, _) => ("render".to_string(), "Render".to_string()),
        (ImageKind::Difference(by), _) => (format!("difference-{by}"), format!("Difference × {by}")),
        (ImageKind::Bits, _) => ("bits".to_string(), "Pixels with other bits".to_string()),
        (ImageKind::Flip, _) => ("flip".to_string(), "FLIP error".to_string()),
        (ImageKind::Significance, _) => ("significance".to_string(), "Significance".to_string()),
    };
    let ([width, height], scale) = (image.size, image.scale);
    let _ = writeln!(
        page,
        "<figure><img data-kind=\"{kind}\" data-scale=\"{scale}\" width=\"{width}\" height=\"{height}\" loading=\"lazy\" \
         alt=\"{caption} of {}\" src=\"{}\"><figcaption>{caption}</figcaption></figure>",
        escaped(&entry.case.name),
        escaped(&image.address)
    );
}

fn numbers(page: &mut String, numbers: &[Number]) {
    if numbers.is_empty() {
        return;
    }
    page.push_str("<div class=\"numbers-box\"><table class=\"numbers\">\n<caption>Numbers</caption>\n<tbody>\n");
    for Number { name, value, limit, passed } in numbers {
        let class = if *passed == Some(false) { " class=\"bad\"" } else { "" };
        let limit = limit.as_ref().map(|limit| format!("must be {}", escaped(limit))).unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr{class}><th scope=\"row\">{}</th><td>{}</td><td class=\"limit\">{limit}</td></tr>",
            escaped(name),
            escaped(value)
        );
    }
    page.push_str("</tbody>\n</table></div>\n");
}

fn facts(page: &mut String, case: &Case, outcome: &Outcome) {
    let path = |path: &std::path::Path| format!("<code>{}</code>", escaped(&path.display().to_string()));
    let mut facts = vec![("Scene", path(&case.scene))];
    if case.fault.is_none() {
        facts.push(("Reference", path(&case.reference)));
        facts.push(("Tolerance", escaped(&case.criterion.to_string())));
    }
    if let Some(frame) = case.frame {
        facts.push(("Frame", frame.to_string()));
    }
    if let Some(render) = &outcome.render {
        let [width, height] = render.size;
        facts.push(("Size", format!("{width} × {height}")));
        let spp = render.spp.as_u64().map_or_else(|| render.spp.to_string(), |spp| spp.to_string());
        facts.push(("Samples per pixel", escaped(&spp)));
        facts.push(("Seed", case.facts.seed.to_string()));
        facts.push(("Device", escaped(&render.device)));
    }
    facts.push(("Time", format!("{:.2} s", outcome.seconds())));
    page.push_str("<div><h3>Facts</h3><dl>\n");
    for (name, value) in facts {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
    page.push_str("</dl></div>\n");
}

/// A text in HTML, with its parts between backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without its other one stays.
    let pairs = (parts.len() - 1) / 2 * 2;
    let mut html = String::new();
    for (i, part) in parts.iter().enumerate() {
        match i {
            0 => {}
            i if i > pairs => html.push('`'),
            i if i % 2 == 1 => html += "<code>",
            _ => html += "</code>",
        }
        html += &escaped(part);
    }
    html
}

/// A text in HTML, also between quotes. Control characters are replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            // Characters that change the direction of what follows could make a name look like another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
