//! Ends a test that hangs, and says at which step.

use std::fmt::Debug;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The steps of a test. Dropping it ends the watch.
pub struct Watchdog<T>(Arc<Mutex<Option<(Instant, T)>>>);

impl<T: Debug + Send + 'static> Watchdog<T> {
    /// Ends this process as soon as a step of this test takes longer than `longest`.
    pub fn new(longest: Duration) -> Self {
        let test = std::thread::current().name().unwrap_or_default().to_string();
        let steps = Arc::new(Mutex::new(None::<(Instant, T)>));
        let watched = Arc::downgrade(&steps);
        std::thread::spawn(move || {
            while let Some(steps) = watched.upgrade() {
                if let Some((since, step)) = &*steps.lock().unwrap()
                    && since.elapsed() > longest
                {
                    // The harness would keep what a macro prints, and lose it with this process.
                    let text = format!("{test}: {step:?} takes longer than {longest:?}\n");
                    std::io::stderr().write_all(text.as_bytes()).unwrap();
                    std::process::abort();
                }
                drop(steps);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Self(steps)
    }

    /// Records what the test does next.
    pub fn step(&self, step: T) {
        *self.0.lock().unwrap() = Some((Instant::now(), step));
    }
}
