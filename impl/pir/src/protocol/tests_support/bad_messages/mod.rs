//! Messages that no honest party sends, to every place where a protocol takes one: a party refuses them, or does something of the right
//! size with them, and serves honest queries beside them and afterwards; so do the parties that an accepted one did not come to.
//!
//! Honest messages of the exchange as it stands are changed here, and not by proptest or a fuzzing crate, because parties keep state: what a
//! message meets depends on all before it, so that these crates could neither shrink a failure to one message nor run that one alone.

mod changes;
mod exchange;

use std::fmt::{self, Debug, Formatter};
use std::io::Write;
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::watchdog::Watchdog;
use crate::core::protocol::Protocol;
use crate::core::workload::Shape;

use changes::{ALL, Change, EARLY, changed, corrupt};
use exchange::{Exchange, Place};

/// No message takes longer: it would be a hang.
const LONGEST: Duration = Duration::from_secs(60);
/// The variable of the environment in which the [`Ends`] that a failed test prints are given to the same test, run alone.
const AGAIN: &str = "PIRLAB_BAD_MESSAGES";

/// How many messages are sent, and for how long those that cost much.
struct Effort {
    messages: u64,
    /// The first messages are rounds of every change at every place: at least this many rounds, and up to `most_rounds` while there is time.
    least_rounds: u64,
    most_rounds: u64,
    /// The time for the rounds and for messages of random changes, which follow.
    time: Duration,
    /// Afterwards, each place has this time for messages that are refused early, and the parser of frames takes the rest.
    early: Duration,
}

const BRIEF: Effort = Effort {
    messages: 400,
    least_rounds: 1,
    most_rounds: 3,
    time: Duration::from_millis(400),
    early: Duration::from_millis(400),
};
/// The same where tests run in full.
const FULL: Effort = Effort {
    messages: 1_000_000,
    least_rounds: 10,
    most_rounds: 200,
    time: Duration::from_secs(60),
    early: Duration::from_secs(20),
};

/// The messages that were sent to a place, by change.
#[derive(Clone, Debug, Default)]
struct Count {
    /// Corrupted ones are sent to the parser of frames alone, which lets none pass; all others to the party.
    sent: [u64; ALL.len()],
    /// Messages of these that the party took.
    taken: [u64; ALL.len()],
    /// Time that messages took after the random ones.
    early: Duration,
}

impl Count {
    fn parser(&self) -> u64 {
        self.sent[Change::Corrupted as usize]
    }

    fn party(&self) -> u64 {
        self.sent.iter().sum::<u64>() - self.parser()
    }
}

/// The numbers of the first messages after the rounds, after the random ones, and after the early ones of each place. The clock decides on
/// them, and every message follows from them: a failure prints them, and a test to which they are given does not ask the clock.
struct Ends {
    numbers: Vec<u64>,
    given: bool,
}

impl Ends {
    fn new(places: usize) -> Self {
        let given = std::env::var(AGAIN).ok();
        let numbers = match &given {
            Some(text) => text.split(',').map(|number| number.parse().unwrap()).collect(),
            None => vec![u64::MAX; 2 + places],
        };
        Self { numbers, given: given.is_some() }
    }

    /// Whether a message comes before an end, which is now at the latest if there is no time.
    fn is_before(&mut self, end: usize, number: u64, has_time: bool) -> bool {
        if !has_time && !self.given {
            self.numbers[end] = self.numbers[end].min(number);
        }
        number < self.numbers[end]
    }
}

/// A message, with the ends until then.
#[derive(Clone)]
struct Step {
    number: u64,
    place: Place,
    change: Change,
    ends: Vec<u64>,
}

impl Debug for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ends: Vec<String> = self.ends.iter().map(u64::to_string).collect();
        write!(f, "message {}, {:?} to {:?} ({AGAIN}={})", self.number, self.change, self.place, ends.join(","))
    }
}

/// Says which message it was, where one brings a party down.
struct Witness(Step);

impl Drop for Witness {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:?}", self.0);
        }
    }
}

/// Sends bad messages to every place of a protocol that takes some.
pub fn withstands<S: Protocol>(params: &S::Set, (records, bits): (u64, u64)) {
    let full = super::in_full();
    let effort = if full { FULL } else { BRIEF };
    let mut exchange = Exchange::<S>::new(params, Shape::new(records, bits).unwrap());
    let places = exchange.places();
    let pairs = (places.len() * ALL.len()) as u64;
    let mut counts = vec![Count::default(); places.len()];
    let mut ends = Ends::new(places.len());
    let (mut spent, mut longest) = (Duration::ZERO, Duration::ZERO);
    let (start, watchdog) = (Instant::now(), Watchdog::new(LONGEST));
    for number in 0..effort.messages {
        // Each message depends on its number, and on whether there is time for its kind.
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        let turn = (number % places.len() as u64) as usize;
        let (place, count) = (places[turn], &mut counts[turn]);
        let (round, pair) = (number / pairs, number % pairs);
        let goes_on = round < effort.least_rounds || (round < effort.most_rounds && spent < effort.time);
        let in_rounds = ends.is_before(0, number, pair > 0 || goes_on);
        let has_time = in_rounds || ends.is_before(1, number, spent < effort.time);
        let change = if in_rounds {
            ALL[pair as usize / places.len()]
        } else if has_time {
            *ALL.choose(&mut rng).unwrap()
        } else if ends.is_before(2 + turn, number, count.early < effort.early) {
            *ALL[..EARLY].choose(&mut rng).unwrap()
        } else {
            Change::Corrupted
        };
        let step = Step { number, place, change, ends: ends.numbers.clone() };
        watchdog.step(step.clone());
        let _witness = Witness(step);
        let before = Instant::now();
        count.sent[change as usize] += 1;
        let mut bad = exchange.honest(place, &mut rng);
        if change == Change::Corrupted {
            // To copy and hash a long payload takes long: later its first part is sent, in a frame that was right.
            corrupt(bad, S::NAME, !has_time, &mut rng);
        } else {
            let mut request = exchange.request.clone();
            let asked = matches!(place, Place::Request | Place::Beside).then_some(&mut request);
            changed(change, S::NAME, &mut bad, asked, &mut rng);
            count.taken[change as usize] += u64::from(exchange.send(place, bad, request).is_ok());
        }
        let took = before.elapsed();
        longest = longest.max(took);
        assert!(took < LONGEST, "{took:?}");
        let clock = if has_time { &mut spent } else { &mut count.early };
        *clock += took;
        // A slow party has served honest queries beside bad ones in each round, and serves these again at the end.
        let is_last = number + 1 == effort.messages;
        if is_last || (number % (effort.messages / 8) == 0 && (full || has_time)) {
            exchange.serves();
            if is_last || full {
                exchange.serves_victim();
            }
        }
    }
    let rounds = ends.numbers[0].min(effort.messages) / pairs;
    assert!(rounds >= effort.least_rounds, "{rounds} rounds");
    let least = (effort.messages / 1000).max(1);
    for (place, count) in places.iter().zip(&counts) {
        assert!(count.sent.iter().all(|&sent| sent >= rounds), "{place:?}: {count:?}");
        // Each message beside another costs an honest answer, so that a slow server has little time for more than the rounds.
        let least_to_party = if *place == Place::Beside { rounds } else { least };
        assert!(count.party() >= least_to_party && count.parser() >= least, "{place:?}: {count:?}");
    }
    let parser = counts.iter().map(Count::parser).sum::<u64>();
    let party = counts.iter().map(Count::party).sum::<u64>();
    assert_eq!(parser + party, effort.messages);
    if full {
        // The harness shows what a macro prints of failed tests only.
        let test = std::thread::current().name().unwrap_or_default().to_string();
        let mut report = format!(
            "{} ({test}): {} bad messages in {:.1?}, the longest in {longest:.1?}: {parser} to the parser of frames alone, \
             {party} to a party; every change at least {rounds} times at every place",
            S::NAME,
            effort.messages,
            start.elapsed()
        );
        for (place, count) in places.iter().zip(&counts) {
            report += &format!("; {place:?}: {} to the parser", count.parser());
            for (change, (sent, taken)) in ALL.iter().zip(count.sent.iter().zip(&count.taken)).skip(1) {
                report += &format!(", {sent} {change:?} to the party, which took {taken}");
            }
        }
        report.push('\n');
        std::io::stderr().write_all(report.as_bytes()).unwrap();
    }
}
