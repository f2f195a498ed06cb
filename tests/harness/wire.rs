//! A raw connection that shows pushes and messages: client-side caching
//! invalidations, keyspace events, and anything a client library would hide.
//! It reads with the `redis` crate's parser and nothing else of that crate.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use redis::{Parser, PushKind, Value};

use crate::client::pack;
use crate::reply::{describe, error_text, Outcome};
use crate::{Protocol, PATIENCE};

/// One raw connection.
pub struct Wire {
    stream: TcpStream,
    parser: Parser,
    pushes: VecDeque<(PushKind, Vec<Value>)>,
}

impl Wire {
    /// Connects to a loopback port.
    ///
    /// # Panics
    /// If nobody answers there.
    pub fn connect(port: u16, protocol: Protocol) -> Wire {
        let stream = TcpStream::connect(("127.0.0.1", port))
            .unwrap_or_else(|error| panic!("cannot connect to 127.0.0.1:{port}: {error}"));
        if let Err(error) = stream.set_nodelay(true) {
            panic!("cannot set up the connection to 127.0.0.1:{port}: {error}");
        }
        let mut wire = Wire { stream, parser: Parser::new(), pushes: VecDeque::new() };
        if protocol == Protocol::Resp3 {
            let hello = wire.call(&["HELLO", "3"]);
            assert!(hello.is_ok(), "HELLO 3: {hello:?}");
        }
        wire
    }

    /// Sends bytes as they are: malformed requests, half of one, several at once.
    ///
    /// # Panics
    /// If the connection is broken.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        if let Err(error) = self.stream.write_all(bytes) {
            panic!("cannot send {}: {error}", bytes.escape_ascii());
        }
    }

    /// Sends one command and does not wait.
    ///
    /// # Panics
    /// If the connection is broken.
    pub fn send<A: AsRef<[u8]>>(&mut self, args: &[A]) {
        self.send_bytes(&pack(args));
    }

    /// Sends one command and waits for its reply; RESP3 pushes
    /// that come before it are kept for [`Wire::push`].
    ///
    /// # Panics
    /// If no reply comes.
    pub fn call<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Outcome {
        self.send(args);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.read_until(deadline) {
                Some(Value::Push { kind, data }) => self.pushes.push_back((kind, data)),
                Some(Value::ServerError(error)) => return Err(error_text(&error)),
                Some(value) => return Ok(value),
                None => panic!("no reply to {}", describe(args)),
            }
        }
    }

    /// The next value of any kind (in RESP2, messages of a subscription are
    /// arrays), or None if none comes in time.
    ///
    /// # Panics
    /// If the connection breaks.
    pub fn read(&mut self, timeout: Duration) -> Option<Value> {
        self.read_until(Instant::now() + timeout)
    }

    /// The next RESP3 push, kept or coming, or None if none comes in time.
    ///
    /// # Panics
    /// If the connection breaks, or something that is no push comes.
    pub fn push(&mut self, timeout: Duration) -> Option<(PushKind, Vec<Value>)> {
        if let Some(kept) = self.pushes.pop_front() {
            return Some(kept);
        }
        match self.read(timeout)? {
            Value::Push { kind, data } => Some((kind, data)),
            other => panic!("a reply came where a push was awaited: {other:?}"),
        }
    }

    /// The keys of all invalidation pushes that come until none does for
    /// `quiet`. `None` among them means "everything" (FLUSHALL).
    ///
    /// # Panics
    /// If the connection breaks, or something that is no push comes.
    pub fn invalidations(&mut self, quiet: Duration) -> Vec<Option<Vec<u8>>> {
        let mut keys = Vec::new();
        while let Some((kind, data)) = self.push(quiet) {
            if kind != PushKind::Invalidate {
                continue;
            }
            match data.into_iter().next() {
                Some(Value::Array(names)) => keys.extend(names.into_iter().map(key_name)),
                _ => keys.push(None),
            }
        }
        keys
    }

    /// Subscribes to patterns and waits for the confirmations.
    ///
    /// # Panics
    /// If they do not come.
    pub fn psubscribe(&mut self, patterns: &[&str]) {
        let mut args = vec!["PSUBSCRIBE"];
        args.extend_from_slice(patterns);
        self.send(&args);
        for pattern in patterns {
            let confirmed = self.read(PATIENCE);
            assert!(confirmed.is_some(), "no confirmation of PSUBSCRIBE {pattern}");
        }
    }

    /// The next message of a subscription, as (channel, payload), or None if
    /// none comes in time.
    ///
    /// # Panics
    /// If the connection breaks, or something else comes.
    pub fn message(&mut self, timeout: Duration) -> Option<(String, String)> {
        let value = self.read(timeout)?;
        let parts = match &value {
            Value::Array(parts) | Value::Push { data: parts, .. } => parts,
            other => panic!("not a message: {other:?}"),
        };
        let text = |from_end: usize| match parts.len().checked_sub(from_end).and_then(|at| parts.get(at)) {
            Some(Value::BulkString(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => panic!("not a message: {value:?}"),
        };
        Some((text(2), text(1)))
    }

    fn read_until(&mut self, deadline: Instant) -> Option<Value> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if let Err(error) = self.stream.set_read_timeout(Some(left)) {
                panic!("cannot set a timeout: {error}");
            }
            // The parser keeps what it has of an unfinished value.
            match self.parser.parse_value(&mut self.stream) {
                Ok(value) => return Some(value),
                Err(error) if error.is_timeout() => continue,
                Err(error) => panic!("the connection broke: {error}"),
            }
        }
    }
}

fn key_name(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(name) => Some(name),
        other => panic!("an invalidation names {other:?}"),
    }
}
