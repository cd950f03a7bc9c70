//! Requests and answers are numbered: a client that decrypted an answer with the secrets of another request would get records that are
//! wrong and look right.

use std::collections::VecDeque;

use crate::core::error::{Error, Result};
use crate::core::scheme::{Request, Response};
use crate::core::wire::Frame;

/// A client's requests under way, by number.
#[derive(Debug, Default)]
pub struct RequestNumbers {
    next: u16,
    open: VecDeque<u16>,
}

impl RequestNumbers {
    /// Gives a new request its number.
    pub fn open(&mut self, mut request: Request) -> Request {
        for (_, message) in &mut request.messages {
            *message = std::mem::replace(message, Frame::empty()).numbered(self.next);
        }
        self.open.push_back(self.next);
        self.next = self.next.wrapping_add(1);
        request
    }

    /// Refuses an answer to another request than the oldest one under way.
    ///
    /// # Errors
    /// No request is under way, or an answer before this one is missing.
    pub fn check(&self, response: &Response) -> Result<()> {
        let oldest = self.open.front().ok_or_else(|| Error::message("answer", "no query is under way."))?;
        let other = response.messages.iter().map(|(_, message)| message.number()).find(|number| number != oldest);
        let Some(other) = other else { return Ok(()) };
        let problem = format!(
            "it answers request {other}, the oldest one under way is {oldest}: answers are extracted in the order of their requests. If \
             one is lost, ask again with a fresh client."
        );
        Err(Error::message("answer", problem))
    }

    /// The oldest request was extracted.
    pub fn close(&mut self) {
        self.open.pop_front();
    }
}

/// Gives answers the numbers of the requests they belong to.
pub fn number_answers(requests: &[Request], mut responses: Vec<Response>) -> Vec<Response> {
    for (request, response) in requests.iter().zip(&mut responses) {
        let number = request.messages.first().map_or(0, |(_, message)| message.number());
        for (_, message) in &mut response.messages {
            *message = std::mem::replace(message, Frame::empty()).numbered(number);
        }
    }
    responses
}
