//! One connection to a server: a command at a time, or many in pipelines. An
//! error reply is an error that names the command.

use std::io;
use std::time::Duration;

use redis::{Cmd, Connection, ConnectionAddr, IntoConnectionInfo, RedisError, Value};

/// No single command of a measurement takes longer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(900);
/// How much of a command an error shows.
const SHOWN_BYTES: usize = 60;

/// A connection that opens with the first command and after `close`.
pub struct Link {
    port: u16,
    connection: Option<Connection>,
}

/// The lines of an INFO reply.
pub struct Info(String);

impl Info {
    /// The text after `field:`.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).map(str::trim)
    }

    /// The text after `field:` in any case: a module's commands are listed as it spells them.
    pub fn text_of(&self, field: &str) -> Option<&str> {
        let mut fields = self.0.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, text)| text.trim())
    }

    /// The number after `field:`.
    pub fn number(&self, field: &str) -> Option<f64> {
        self.text(field)?.parse().ok()
    }

    /// The server's name and version, of the section `server`.
    pub fn product(&self) -> String {
        match (self.text("valkey_version"), self.text("redis_version")) {
            (Some(version), _) => format!("Valkey {version}"),
            (None, version) => format!("Redis {}", version.unwrap_or_default()),
        }
    }

    /// The first module's name and version, of the section `modules`.
    pub fn module(&self) -> Option<String> {
        let line = self.text("module")?;
        let field = |name: &str| line.split(',').find_map(|part| part.strip_prefix(name));
        Some(format!("module {} {}", field("name=")?, field("ver=")?))
    }
}

impl Link {
    /// To a port of the loopback.
    pub fn to(port: u16) -> Self {
        Self { port, connection: None }
    }

    /// Gives the connection up, and with it its buffers in the server.
    pub fn close(&mut self) {
        self.connection = None;
    }

    fn open(&mut self) -> io::Result<&mut Connection> {
        let opened = match self.connection.take() {
            Some(connection) => connection,
            None => connect(self.port).map_err(io::Error::other)?,
        };
        Ok(self.connection.insert(opened))
    }

    /// Sends a command and waits for its reply.
    ///
    /// # Errors
    /// The reply is an error, or the connection breaks.
    pub fn ask(&mut self, command: &Cmd) -> io::Result<Value> {
        let packed = command.get_packed_command();
        let connection = self.open()?;
        let sent = connection.send_packed_command(&packed);
        let reply = sent.and_then(|()| connection.recv_response()?.extract_error());
        reply.map_err(|error| explain(&error, &packed))
    }

    /// The integer that a command replies.
    ///
    /// # Errors
    /// It replies something else.
    pub fn number(&mut self, command: &Cmd) -> io::Result<i64> {
        match self.ask(command)? {
            Value::Int(number) => Ok(number),
            other => Err(io::Error::other(format!("an integer was expected, not {other:?}"))),
        }
    }

    /// The bulk string that a command replies.
    ///
    /// # Errors
    /// It replies something else.
    pub fn bytes(&mut self, command: &Cmd) -> io::Result<Vec<u8>> {
        match self.ask(command)? {
            Value::BulkString(bytes) => Ok(bytes),
            other => Err(io::Error::other(format!("a bulk string was expected, not {other:?}"))),
        }
    }

    /// A section of INFO.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn info(&mut self, section: &str) -> io::Result<Info> {
        let bytes = self.bytes(redis::cmd("INFO").arg(section))?;
        Ok(Info(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Sends commands `depth` at a time; while a batch is being answered the next one is on its way.
    ///
    /// # Errors
    /// A reply is an error, or the connection breaks.
    pub fn pipeline(&mut self, depth: usize, commands: impl IntoIterator<Item = Cmd>) -> io::Result<()> {
        let connection = self.open()?;
        let mut commands = commands.into_iter();
        let mut awaited = 0;
        loop {
            let mut packed = Vec::new();
            let mut batch = 0;
            for command in commands.by_ref().take(depth) {
                command.write_packed_command(&mut packed);
                batch += 1;
            }
            if batch > 0 {
                connection.send_packed_command(&packed).map_err(|error| explain(&error, &packed))?;
            }
            for _ in 0..awaited {
                let reply = connection.recv_response().and_then(Value::extract_error);
                reply.map_err(|error| explain(&error, &packed))?;
            }
            if batch == 0 {
                return Ok(());
            }
            awaited = batch;
        }
    }
}

fn connect(port: u16) -> Result<Connection, RedisError> {
    let info = ConnectionAddr::Tcp("127.0.0.1".to_owned(), port).into_connection_info()?;
    let connection = redis::Client::open(info)?.get_connection_with_timeout(REPLY_TIMEOUT)?;
    connection.set_read_timeout(Some(REPLY_TIMEOUT))?;
    connection.set_write_timeout(Some(REPLY_TIMEOUT))?;
    Ok(connection)
}

fn explain(error: &RedisError, packed: &[u8]) -> io::Error {
    let start = String::from_utf8_lossy(packed.get(..SHOWN_BYTES.min(packed.len())).unwrap_or_default());
    let words: Vec<&str> = start.split("\r\n").filter(|word| !word.starts_with(['*', '$'])).collect();
    io::Error::other(format!("{} ...: {error}", words.join(" ").trim()))
}
