//! A client over the `redis` crate: one connection, one command at a time or a
//! pipeline of them. Errors come back as the server's own line; a reply of
//! another kind than the one asked for fails the test and names the command.

use redis::{Connection, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo, Value};

use crate::reply::{describe, outcome, Outcome};
use crate::{Args, PATIENCE};

/// The protocol spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, what a connection starts with.
    Resp2,
    /// RESP3, by HELLO 3.
    Resp3,
}

/// One connection.
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Connects to a loopback port as the default user.
    ///
    /// # Panics
    /// If nobody answers there.
    pub fn connect(port: u16, protocol: Protocol) -> Client {
        Client::connect_as(port, protocol, None)
    }

    /// Connects as a user: (name, password).
    ///
    /// # Panics
    /// If nobody answers there, or the credentials are refused.
    pub fn connect_as(port: u16, protocol: Protocol, user: Option<(&str, &str)>) -> Client {
        Client::try_connect(port, protocol, user)
            .unwrap_or_else(|error| panic!("cannot connect to 127.0.0.1:{port}: {error}"))
    }

    /// Connects if somebody answers.
    ///
    /// # Errors
    /// What the client crate says: nobody answers, or the credentials are refused.
    pub fn try_connect(
        port: u16,
        protocol: Protocol,
        user: Option<(&str, &str)>,
    ) -> Result<Client, redis::RedisError> {
        let version = match protocol {
            Protocol::Resp2 => ProtocolVersion::RESP2,
            Protocol::Resp3 => ProtocolVersion::RESP3,
        };
        let mut settings = RedisConnectionInfo::default().set_protocol(version).set_skip_set_lib_name();
        if let Some((name, password)) = user {
            settings = settings.set_username(name).set_password(password);
        }
        let address = ConnectionAddr::Tcp("127.0.0.1".to_string(), port);
        let info = address.into_connection_info()?.set_redis_settings(settings);
        // A hang fails the test instead of the run.
        let connection = redis::Client::open(info)?.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        Ok(Client { connection })
    }

    /// Sends one command and waits for its reply. `args` is a list of one kind
    /// (`&["GET", "k"]`) or what `args!` makes.
    ///
    /// # Panics
    /// If the connection breaks or stays silent.
    pub fn cmd<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Outcome {
        let sent = self.connection.send_packed_command(&pack(args));
        let result = sent.and_then(|()| self.receive());
        outcome(result, &|| describe(args))
    }

    /// Like [`Client::cmd`], but a broken connection is told apart instead of
    /// failing the test: None means that the server went away.
    pub fn cmd_or_gone<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Option<Outcome> {
        let sent = self.connection.send_packed_command(&pack(args));
        match sent.and_then(|()| self.receive()) {
            Err(error) if error.is_io_error() || error.is_connection_dropped() => None,
            result => Some(outcome(result, &|| describe(args))),
        }
    }

    /// Sends all commands at once, then reads their replies in order.
    ///
    /// # Panics
    /// If the connection breaks. Keep requests and replies of one call well
    /// under a megabyte or so: nothing is read until all is written.
    pub fn pipeline(&mut self, commands: &[Args]) -> Vec<Outcome> {
        let mut bytes = Vec::new();
        for command in commands {
            pack_into(&mut bytes, command);
        }
        if let Err(error) = self.connection.send_packed_command(&bytes) {
            panic!("cannot send a pipeline of {}: {error}", commands.len());
        }
        commands.iter().map(|command| outcome(self.receive(), &|| describe(command))).collect()
    }

    /// The next reply; pushes in between are dropped (see `Wire` for them).
    fn receive(&mut self) -> Result<Value, redis::RedisError> {
        loop {
            match self.connection.recv_response()? {
                Value::Push { .. } => continue,
                value => return Ok(value),
            }
        }
    }

    /// The reply of a command that must succeed.
    ///
    /// # Panics
    /// With the error line if it does not.
    pub fn ask<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Value {
        self.cmd(args).unwrap_or_else(|error| panic!("{} failed: {error}", describe(args)))
    }

    /// The integer a command replies.
    ///
    /// # Panics
    /// If it replies anything else.
    pub fn int<A: AsRef<[u8]>>(&mut self, args: &[A]) -> i64 {
        match self.ask(args) {
            Value::Int(number) => number,
            other => panic!("{} replied {other:?}, not an integer", describe(args)),
        }
    }

    /// The bulk string a command replies.
    ///
    /// # Panics
    /// If it replies anything else, null included.
    pub fn bytes<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Vec<u8> {
        match self.ask(args) {
            Value::BulkString(bytes) => bytes,
            other => panic!("{} replied {other:?}, not a bulk string", describe(args)),
        }
    }

    /// The text a command replies: bulk, simple or verbatim.
    ///
    /// # Panics
    /// If it replies anything else.
    pub fn text<A: AsRef<[u8]>>(&mut self, args: &[A]) -> String {
        match self.ask(args) {
            Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => text,
            Value::Okay => "OK".to_string(),
            other => panic!("{} replied {other:?}, not text", describe(args)),
        }
    }

    /// The bulk strings of an array reply, as text.
    ///
    /// # Panics
    /// If it replies anything else.
    pub fn texts<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Vec<String> {
        let items = match self.ask(args) {
            Value::Array(items) | Value::Set(items) => items,
            other => panic!("{} replied {other:?}, not an array", describe(args)),
        };
        let text = |item: &Value| match item {
            Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::SimpleString(text) => text.clone(),
            other => panic!("{} has {other:?} in its array, not a string", describe(args)),
        };
        items.iter().map(text).collect()
    }

    /// The integers of an array reply.
    ///
    /// # Panics
    /// If it replies anything else.
    pub fn ints<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Vec<i64> {
        let Value::Array(items) = self.ask(args) else { panic!("{} did not reply an array", describe(args)) };
        let number = |item: &Value| match item {
            Value::Int(number) => *number,
            other => panic!("{} has {other:?} in its array, not an integer", describe(args)),
        };
        items.iter().map(number).collect()
    }

    /// Runs a command that must reply OK.
    ///
    /// # Panics
    /// If it replies anything else.
    pub fn ok<A: AsRef<[u8]>>(&mut self, args: &[A]) {
        let reply = self.ask(args);
        assert_eq!(reply, Value::Okay, "reply of {}", describe(args));
    }

    /// The error line of a command that must fail.
    ///
    /// # Panics
    /// If it succeeds.
    pub fn error<A: AsRef<[u8]>>(&mut self, args: &[A]) -> String {
        match self.cmd(args) {
            Err(text) => text,
            Ok(value) => panic!("{} replied {value:?}, not an error", describe(args)),
        }
    }
}

/// One command in the wire format of requests.
pub(crate) fn pack<A: AsRef<[u8]>>(args: &[A]) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack_into(&mut bytes, args);
    bytes
}

fn pack_into<A: AsRef<[u8]>>(bytes: &mut Vec<u8>, args: &[A]) {
    bytes.extend_from_slice(format!("*{}\r\n", args.len()).as_bytes());
    for arg in args {
        let arg = arg.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        bytes.extend_from_slice(arg);
        bytes.extend_from_slice(b"\r\n");
    }
}
