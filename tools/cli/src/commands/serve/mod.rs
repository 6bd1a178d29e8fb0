//! `schedc serve`: questions about pods over HTTP.
//!
//! | module | content |
//! |---|---|
//! | `http` | connections and requests, within limits |
//! | `questions` | the answers, one after the other, in the main thread |
//! | `problem` | errors as JSON |
//! | `openapi` | the description of the interface |

mod http;
mod openapi;
mod problem;
mod questions;

use std::any::Any;
use std::net::{IpAddr, SocketAddr};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;
use tokio::sync::{mpsc, oneshot};

use super::failure::Failure;
use super::objects;
use super::validate;
use problem::Problem;
use questions::{Answers, Question};

/// Answer the questions of the commands check, explain and capacity over HTTP
///
/// POST /v1/check, /v1/explain and /v1/capacity take and return JSON; GET /openapi.json describes them. The
/// answers are those of the commands with -o json, for the cluster of the files or, with --live, of an API
/// server. Nothing is changed. There is no authentication, so the server listens on the loopback address; requests
/// are limited in size, time and number.
#[derive(Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8473")]
    listen: SocketAddr,

    /// Permit an address that other machines can reach, although requests are not authenticated
    #[arg(long)]
    allow_remote: bool,

    /// Read the cluster again for the first request after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u32).range(1..))]
    refresh: u32,

    /// Maximum time from the end of the headers of a request to its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u32).range(1..=3600))]
    timeout: u32,

    /// Maximum size of a request in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = value_parser!(u32).range(1..=64 << 20))]
    max_body: u32,

    /// Maximum number of requests that wait for the answers to earlier ones
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = value_parser!(u8).range(1..))]
    queue: u8,

    #[command(flatten)]
    input: objects::Input,
}

/// A question, and the channel for its answer. The channel is closed if the client does not wait any more.
struct Job {
    question: Question,
    answer: oneshot::Sender<Result<String, Problem>>,
}

/// Maximum values for a request.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Time from the end of the headers to the answer.
    time: Duration,
    /// Bytes of a body.
    body: usize,
}

impl Serve {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let is_loopback = match self.listen.ip() {
            IpAddr::V4(address) => address.is_loopback(),
            IpAddr::V6(address) => address.is_loopback(),
        };
        if !is_loopback && !self.allow_remote {
            return Err(Failure::new(format_args!(
                "{} can be reached from other machines, and requests are not authenticated; use a loopback address, or \
                 --allow-remote behind a proxy that authenticates",
                self.listen
            )));
        }
        if self.input.files().iter().any(|file| file == Path::new("-")) {
            return Err(Failure::new("standard input cannot be read again; pass a file or folder"));
        }
        let setup = self.input.setup(bundle)?;
        let objects = self.input.load(bundle)?;
        validate::warn(&objects.ignored);
        let limits = Limits { time: Duration::from_secs(self.timeout.into()), body: self.max_body as usize };
        let (sender, jobs) = mpsc::channel::<Job>(self.queue.into());
        let listener = http::bind(self.listen)?;
        // The scheduler stays in this thread; the new one handles the connections.
        thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || http::serve(listener, sender, limits, is_loopback))
            .map_err(|error| Failure::new(format_args!("cannot start a thread: {error}")))?;
        let refresh = Duration::from_secs(self.refresh.into());
        let mut answers = Answers::new(bundle, &self.input, setup, objects, refresh);
        answer_all(jobs, |question| answers.answer(question));
        Ok(())
    }
}

/// Answers questions one after the other, until the channel is closed. A panic, for example of a plugin, is an error of
/// that question only: each question has a separate scheduler, so no state remains. A program that is built to abort
/// after a panic ends.
fn answer_all(mut jobs: mpsc::Receiver<Job>, mut answer: impl FnMut(Question) -> Result<String, Problem>) {
    while let Some(Job { question, answer: client }) = jobs.blocking_recv() {
        // The client may have given up in the meantime.
        if client.is_closed() {
            continue;
        }
        let result = panic::catch_unwind(AssertUnwindSafe(|| answer(question)));
        let _client_gone = client.send(result.unwrap_or_else(|panic| Err(failed(&*panic))));
    }
}

/// Returns the error for a panic.
fn failed(panic: &(dyn Any + Send)) -> Problem {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a message");
    Problem::new("failed", format_args!("a panic ended this request: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_question_and_the_next_one_is_answered() {
        let (sender, jobs) = mpsc::channel(3);
        let ask = |path: &str| {
            let (answer, receiver) = oneshot::channel();
            let body = if path == "/v1/explain" { r#"{"pod": "web"}"# } else { r#"{"manifests": []}"# };
            let question = Question::parse(path, body.as_bytes()).unwrap();
            assert!(sender.try_send(Job { question, answer }).is_ok());
            receiver
        };
        let answers = [ask("/v1/explain"), ask("/v1/check"), ask("/v1/capacity")];
        drop(sender);
        answer_all(jobs, |question| match question {
            Question::Explain(_) => panic!("no score for {}", "web"),
            Question::Check(_) => panic!("unexpected"),
            Question::Capacity(_) => Ok("an answer".to_owned()),
        });
        let [first, second, third] = answers.map(|answer| answer.blocking_recv().unwrap());
        let (first, second) = (first.unwrap_err(), second.unwrap_err());
        assert_eq!((first.status.as_u16(), first.code), (500, "failed"));
        assert!(first.message.ends_with("no score for web") && second.message.ends_with("unexpected"));
        assert_eq!(third.unwrap(), "an answer");
    }
}
