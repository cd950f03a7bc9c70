use ring::Kernel;

use super::*;
use crate::core::description::Sizes;
use crate::core::workload::Workload;
use crate::protocol::simplepir;
use crate::protocol::tests_support::{context, parties_of, small_set};

/// A protocol whose updates fail at records of 255, after the server has changed something.
struct Failing;

struct FailingServer {
    changed: usize,
}

struct FailingClient;

impl Protocol for Failing {
    const NAME: &'static str = "failing";
    const SUMMARY: &'static str = "fails";
    type Set = simplepir::Set;
    type Numbers = ();
    type Server = FailingServer;
    type Client = FailingClient;

    fn describe(_: &Self::Set, _: &Workload) -> Result<Sizes> {
        Ok(Sizes::default())
    }
}

impl Server for FailingServer {
    type Set = simplepir::Set;

    fn new(_: &Self::Set, _: &Database, _: &mut Context) -> Result<Self> {
        Ok(Self { changed: 0 })
    }

    fn tables(&self) -> Vec<TableBytes> {
        Vec::new()
    }

    fn answer(&self, _: &[Request], _: &mut Context) -> Result<Vec<Messages>> {
        Ok(Vec::new())
    }

    fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<Messages> {
        self.changed += changes.len();
        let fails = changes.iter().any(|(_, record)| record == &[255]);
        if fails { Err(Error::Workload("no memory".into())) } else { Ok(Messages::new()) }
    }
}

impl Client for FailingClient {
    type Server = FailingServer;
    type Query = u64;

    fn new(_: &simplepir::Set, _: Shape, _: &mut Context) -> Result<Self> {
        Ok(Self)
    }

    fn query(&mut self, indices: &[u64], _: &mut Context) -> Result<(Vec<u64>, Messages)> {
        Ok((indices.to_vec(), Messages::new()))
    }

    fn extract(&mut self, _: &[u64], _: &Messages, _: &Context) -> Result<Vec<Record>> {
        Ok(Vec::new())
    }

    fn log_errors(&self, _: &[u64], _: &FailingServer, _: (&Request, &Messages), _: &mut Context) -> Result<()> {
        Ok(())
    }
}

fn params() -> simplepir::Set {
    small_set::<simplepir::SimplePir>("", "[[plain_moduli]]\nlog2_samples = 13\nmodulus = 991\n")
}

#[test]
fn no_answer_follows_an_update_that_failed_half_way() {
    let mut context = context(Kernel::best(), 1);
    let database = Database::seeded([9; 16], Shape::new(10, 8).unwrap());
    let session = |context: &mut Context| ServerSession::<Failing>::new(&params(), &database, context).unwrap();
    context.streamed = true;
    let mut streamed = session(&mut context);
    assert!(streamed.update(&[(0, vec![1])], &mut context).unwrap_err().to_string().contains("streamed"));
    assert_eq!(streamed.server.changed, 0);
    context.streamed = false;
    let mut server = session(&mut context);
    server.update(&[(0, vec![1])], &mut context).unwrap();
    for wrong in [(10, vec![1]), (0, vec![1, 2])] {
        assert!(server.update(&[(1, vec![2]), wrong], &mut context).is_err());
    }
    assert_eq!(server.server.changed, 1, "changes that do not fit reach no server");
    server.answer(&[], &mut context).unwrap();
    let error = server.update(&[(2, vec![255])], &mut context).unwrap_err().to_string();
    assert!(error.contains("no memory"), "{error}");
    // Made again, it would find the records changed and nothing to add to hints.
    let again = server.update(&[(2, vec![3])], &mut context).unwrap_err().to_string();
    let answer = server.answer(&[], &mut context).unwrap_err().to_string();
    for error in [again, answer] {
        assert!(error.contains("not finished") && error.contains("Preprocess it again"), "{error}");
    }
}

#[test]
fn messages_that_a_protocol_does_not_have_are_refused_and_queries_come_after_the_offline_exchange() {
    let mut context = context(Kernel::best(), 1);
    let shape = Shape::new(10, 8).unwrap();
    let mut server = ServerSession::<Failing>::new(&params(), &Database::seeded([9; 16], shape), &mut context).unwrap();
    let mut client = ClientSession::<Failing>::new(&params(), shape, &mut context).unwrap();
    assert!(client.query(&[1], &mut context).unwrap_err().to_string().contains("offline exchange"));
    client.connect(&mut server, &mut Link::new(Failing::NAME), &mut context).unwrap();
    assert_eq!(client.query(&[1, 2], &mut context).unwrap().queries, 2);
    let messages = vec![("hint", Frame::empty())];
    let refusals = [
        client.update(&messages, &mut context),
        client.client.receive(messages.clone(), &mut context),
        server.server.receive(&messages, &mut context).map(|_| ()),
    ];
    for refused in refusals {
        assert!(refused.unwrap_err().to_string().contains("hint"));
    }
}

/// A server that starts again has another public seed, under which answers to the requests before decrypt to wrong records.
#[test]
fn an_offline_exchange_made_again_closes_open_requests() {
    let mut context = context(Kernel::best(), 1);
    let (database, index) = (Database::seeded([9; 16], Shape::new(1000, 13).unwrap()), 999);
    let (old, mut client) = parties_of::<simplepir::SimplePir>(&params(), &database, &mut context);
    let [first, second] = [(); 2].map(|()| client.query(&[index], &mut context).unwrap());
    let of_old = old.answer(&[first], &mut context).unwrap().remove(0);
    let mut new = ServerSession::<simplepir::SimplePir>::new(&params(), &database, &mut context).unwrap();
    client.connect(&mut new, &mut Link::new(simplepir::SimplePir::NAME), &mut context).unwrap();
    assert!(client.extract(&of_old, &context).unwrap_err().to_string().contains("no request is under way"));
    let third = client.query(&[index], &mut context).unwrap();
    let of_new = new.answer(&[second, third], &mut context).unwrap();
    for answer in [&of_old, &of_new[0]] {
        let error = client.extract(answer, &context).unwrap_err().to_string();
        assert!(error.contains("the oldest one under way is 2"), "{error}");
    }
    assert_eq!(client.extract(&of_new[1], &context).unwrap(), [database.record(index).unwrap()]);
}
