use super::*;
use std::time::Duration;

#[test]
fn turns_add_up_to_one_sample() {
    let clock = Clock::default();
    let mut turns = Turns::new(&clock);
    let nap = Duration::from_millis(20);
    for name in ["one", "other", "one"] {
        turns.time(name, || std::thread::sleep(nap));
    }
    turns.finish(Group::Online);
    let phases = clock.phases();
    let names: Vec<_> = phases.iter().map(|phase| (phase.name.as_str(), phase.seconds.len())).collect();
    assert_eq!(names, [("one", 1), ("other", 1)]);
    assert!(phases[0].seconds[0] >= 2.0 * nap.as_secs_f64());
}

#[test]
fn what_is_outside_does_not_belong_to_a_phase() {
    let clock = Clock::default();
    let nap = Duration::from_millis(30);
    clock.time("answer", Group::Online, || {
        clock.time("inner", Group::Online, || clock.outside(|| std::thread::sleep(nap)));
    });
    clock.time("other", Group::Online, || std::thread::sleep(nap));
    let seconds = |name: &str| clock.phases().iter().find(|phase| phase.name == name).unwrap().seconds[0];
    assert!(seconds("other") >= nap.as_secs_f64());
    assert!(seconds("answer") < nap.as_secs_f64() && seconds("inner") < nap.as_secs_f64());
}
