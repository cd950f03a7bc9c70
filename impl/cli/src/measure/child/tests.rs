use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{Limit, processor_seconds};
use crate::lines::received;

/// A shell in the place of a worker, and the lines that it prints.
fn shell(script: &str) -> (Child, Receiver<String>) {
    let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = received(child.stdout.take().unwrap(), || ());
    (child, lines)
}

/// Lets a process that has stopped itself go on after a while.
fn go_on(process: u32) -> ExitStatus {
    let is_stopped = || {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    // A machine under load starts it late.
    for _ in 0..1000 {
        if is_stopped() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    Command::new("sh").arg("-c").arg(format!("kill -CONT {process}")).status().unwrap()
}

#[test]
fn a_worker_that_waits_for_a_processor_beyond_its_limit_is_not_late() {
    let (mut child, lines) = shell("kill -STOP $$; echo done");
    let (process, start) = (child.id(), Instant::now());
    let going_on = std::thread::spawn(move || go_on(process));
    let reply = Limit::new(0.2, 1).unwrap().wait(&lines, process);
    let waited = start.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(reply, Ok("done".to_string()));
    assert!(waited > Duration::from_millis(500), "{waited:?}");
    assert!(going_on.join().unwrap().success());
}

#[test]
fn a_worker_is_late_when_each_of_its_threads_could_have_used_the_limit() {
    for threads in [1, 2] {
        let (mut child, lines) = shell("while :; do :; done");
        let reply = Limit::new(0.3, threads).unwrap().wait(&lines, child.id());
        let used = processor_seconds(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(reply, Err(RecvTimeoutError::Timeout));
        assert!(used >= 0.3 * threads as f64, "{used} s on {threads} threads");
    }
}
