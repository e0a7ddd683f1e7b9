//! The program with its window: started, looked at, waited for, closed.

use super::{Display, GLANCE, LONG, Region, Screenshot, kept_screenshots};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::Window;

/// Names another binary to drive than the one that was built with the tests, such as a release
/// build.
const PROGRAM: &str = "SHADEWRIGHT_PROGRAM";

/// Names a folder that gets the screenshots that tests [`keep`](Program::keep).
const SCREENSHOTS: &str = "SHADEWRIGHT_SCREENSHOTS";

/// Time for which a window at rest is watched.
const REST: Duration = Duration::from_millis(500);

/// Ticks a second of the times in `/proc/PID/stat`, on every Linux that people have.
const TICKS: f64 = 100.0;

/// `shadewright` with its window, on a display of its own. Whatever is left of both ends with this.
pub struct Program {
    /// The display that it is on.
    pub display: Display,
    process: Child,
    window: Window,
    /// The text that it wrote to standard output and standard error.
    output: [Arc<Mutex<String>>; 2],
    config: PathBuf,
}

impl Program {
    /// Starts it in a folder and waits until its window is there, which then has the keyboard.
    /// `settings` are what it remembers of an earlier day; it keeps them in `folder/config`.
    ///
    /// # Panics
    /// When no window comes.
    pub fn start(folder: &Path, arguments: &[&str], settings: &serde_json::Value) -> Self {
        Self::start_with(folder, arguments, settings, &[])
    }

    /// The same, with these variables in its environment.
    ///
    /// # Panics
    /// When no window comes.
    pub fn start_with(
        folder: &Path,
        arguments: &[&str],
        settings: &serde_json::Value,
        variables: &[(&str, &Path)],
    ) -> Self {
        let display = Display::start();
        let config = folder.join("config");
        std::fs::create_dir_all(&config).expect("a folder for the settings");
        std::fs::write(config.join("viewer.json"), settings.to_string()).expect("settings");
        let program = std::env::var_os(PROGRAM).unwrap_or_else(|| env!("CARGO_BIN_EXE_shadewright").into());
        let mut process = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env("DISPLAY", display.name())
            .env("SHADEWRIGHT_CONFIG", &config)
            .env_remove("WAYLAND_DISPLAY")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program was built with the tests");
        let output = [
            collect(process.stdout.take().expect("its output")),
            collect(process.stderr.take().expect("its messages")),
        ];
        let mut program = Self { display, process, window: 0, output, config };
        let deadline = Instant::now() + LONG;
        while program.window == 0 {
            program.window = program.display.shown_window().unwrap_or(0);
            assert!(Instant::now() < deadline, "no window came: {}", program.messages());
            assert!(program.runs(), "it ended before there was a window: {}", program.messages());
            std::thread::sleep(GLANCE);
        }
        program.display.focus(program.window);
        program
    }

    /// True if it has not ended.
    pub fn runs(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// The text that it wrote to standard error.
    pub fn messages(&self) -> String {
        self.output[1].lock().expect("the thread that reads them").clone()
    }

    /// The file of its settings.
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("viewer.json")
    }

    /// The title of its window.
    pub fn title(&self) -> String {
        self.display.title(self.window)
    }

    /// The width and height of its window.
    pub fn size(&self) -> [u32; 2] {
        self.display.size(self.window).map_or([0, 0], |size| size.map(u32::from))
    }

    /// A place of its window, which is in the display's corner, by shares of its width and height.
    pub fn at(&self, x: f32, y: f32) -> [i32; 2] {
        let [width, height] = self.size();
        [(x * width as f32) as i32, (y * height as f32) as i32]
    }

    /// Gives its window another size.
    pub fn resize(&self, size: [u32; 2]) {
        self.display.resize(self.window, size);
    }

    /// Drops a file on its window. Gives whether it took it.
    pub fn drop_file(&self, file: &Path, patience: Duration) -> bool {
        self.display.drop_file(self.window, file, patience)
    }

    /// Takes a screenshot of its window; `None` when that is gone.
    pub fn glance(&self) -> Option<Screenshot> {
        self.display.look(self.window)
    }

    /// Takes a screenshot of its window.
    ///
    /// # Panics
    /// When the program ended or panicked.
    pub fn look(&mut self) -> Screenshot {
        let seen = self.glance();
        let messages = self.messages();
        assert!(!messages.contains("panicked"), "{messages}");
        match seen {
            Some(seen) if self.runs() => seen,
            _ => panic!("the window is gone: {messages}"),
        }
    }

    /// Waits until what is seen is so; gives it.
    ///
    /// # Panics
    /// When it is not so in time; what was seen instead is kept as an image.
    #[track_caller]
    pub fn until(&mut self, what: &str, is_so: impl Fn(&Screenshot) -> bool) -> Screenshot {
        self.within(LONG, &is_so).unwrap_or_else(|seen| {
            let file = kept_screenshots().join(format!("{}.png", what.replace(' ', "-")));
            seen.write(&file);
            panic!("never seen: {what}; what was seen is {}\n{}", file.display(), self.messages());
        })
    }

    /// Waits for a while until what is seen is so.
    ///
    /// # Errors
    /// The last screenshot, when it was not so in time.
    pub fn within(
        &mut self,
        patience: Duration,
        is_so: impl Fn(&Screenshot) -> bool,
    ) -> Result<Screenshot, Screenshot> {
        let deadline = Instant::now() + patience;
        loop {
            let seen = self.look();
            if is_so(&seen) {
                return Ok(seen);
            }
            if Instant::now() > deadline {
                return Err(seen);
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Does something at the pointer or the keyboard, and waits until the window's thread has worked on
    /// it and rests. What changes nothing wakes no thread, and an image that is drawn lets none rest:
    /// after a second it goes on.
    pub fn handled(&mut self, act: impl FnOnce(&Display)) {
        let before = self.window_time();
        act(&self.display);
        let deadline = Instant::now() + Duration::from_secs(1);
        let mut last = before;
        while Instant::now() < deadline {
            std::thread::sleep(GLANCE);
            let now = self.window_time();
            if now > before && now == last {
                return;
            }
            last = now;
        }
    }

    /// Waits until nothing changes any more in a part of the window, and the program takes no more than
    /// a tenth of a processor: nothing is being drawn. Gives what is seen.
    ///
    /// # Panics
    /// When it does not come to rest.
    pub fn until_still(&mut self, part: Region) -> Screenshot {
        let deadline = Instant::now() + LONG;
        loop {
            let (before, start, worked) = (self.look(), Instant::now(), self.processor_time());
            std::thread::sleep(REST);
            let load = (self.processor_time() - worked) / start.elapsed().as_secs_f64();
            let now = self.look();
            if load < 0.1 && now.changed(&before, part) == 0.0 {
                return now;
            }
            assert!(Instant::now() < deadline, "the image never comes to rest");
        }
    }

    /// Keeps a screenshot as `NAME.png`, if somebody wants them.
    pub fn keep(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os(SCREENSHOTS) {
            self.look().write(&Path::new(&folder).join(format!("{name}.png")));
        }
    }

    /// Closes the window as its button does, and waits for the end. Gives the exit status and what
    /// was written to standard output.
    ///
    /// # Panics
    /// When it does not end.
    pub fn close(mut self) -> (Option<i32>, String) {
        let delete = self.display.atom("WM_DELETE_WINDOW");
        self.display.send(self.window, "WM_PROTOCOLS", [delete, 0, 0, 0, 0]);
        let deadline = Instant::now() + LONG;
        while self.runs() {
            assert!(Instant::now() < deadline, "it does not close: {}", self.messages());
            std::thread::sleep(GLANCE);
        }
        let status = self.process.wait().expect("a process that ended");
        let messages = self.messages();
        assert!(!messages.contains("panicked"), "{messages}");
        (status.code(), self.output[0].lock().expect("the thread that reads it").clone())
    }

    /// Memory that it has now, in bytes.
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }

    /// Processor time that the window's thread, the first one, took so far, in seconds. Other work
    /// on the machine does not count.
    pub fn window_time(&self) -> f64 {
        let id = self.process.id();
        let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
    }

    /// Processor time that all its threads took so far, in seconds.
    pub fn processor_time(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap_or_default();
        // The second field is the name in brackets; user and system time are the fields 14 and 15.
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        ticks / TICKS
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads a stream to its end, on a thread of its own.
fn collect(stream: impl std::io::Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let all = text.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let Ok(mut all) = all.lock() {
                all.push_str(&line);
                all.push('\n');
            }
        }
    });
    text
}
