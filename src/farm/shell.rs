//! Values in scripts for bash.

use super::FrameSet;
use shadewright_base::text::shell;

/// Strings as the words of an array.
pub fn words<S: AsRef<str>>(texts: &[S]) -> String {
    format!("({})", shell::words(texts))
}

/// Frames as the words of an array.
pub fn frames(frames: &FrameSet) -> String {
    let words = frames.runs().into_iter().map(|run| match run.step {
        _ if run.first == run.last => run.first.to_string(),
        1 => format!("{{{}..{}}}", run.first, run.last),
        step => format!("{{{}..{}..{step}}}", run.first, run.last),
    });
    format!("({})", words.collect::<Vec<_>>().join(" "))
}

#[cfg(all(test, target_os = "linux"))]
pub(super) mod tests {
    use super::*;
    use std::process::Command;

    /// Returns the output of bash for a script.
    pub fn bash(script: &str) -> String {
        let output = Command::new("bash").args(["-euc", script]).output().expect("there is bash");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn bash_reads_words_as_they_were() {
        for text in
            ["plain/path.rib", "", "with space", "it's", "$HOME `id` $(id) \"x\" \\", "a\nb", "*", "~", "ä{1,2}"]
        {
            assert_eq!(bash(&format!("printf %s {}", shell::word(text))), text);
        }
        assert_eq!(bash(&format!("a={}; printf '<%s>' \"${{a[@]}}\"", words(&["a b", "", "c"]))), "<a b><><c>");
    }

    #[test]
    fn bash_reads_frames_as_their_numbers() {
        let set = FrameSet::new(vec![-10, -8, -6, 1, 2, 3, 4, 7]).unwrap();
        assert_eq!(frames(&set), "({-10..-6..2} {1..4} 7)");
        assert_eq!(bash(&format!("a={}; echo \"${{a[*]}}\"", frames(&set))), "-10 -8 -6 1 2 3 4 7\n");
    }
}
