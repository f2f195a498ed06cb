//! One real server a value: its own folder, port, config file and log.
//!
//! ```no_run
//! # use roarbits_tests::{args, Server};
//! let server = Server::start();                       // the release library, nothing persisted
//! let mut client = server.client();
//! assert_eq!(client.int(&["RB.SETBIT", "k", "5", "1"]), 0);
//!
//! let mut durable = Server::builder().aof().config("aof-use-rdb-preamble", "no").start();
//! durable.kill9();
//! durable.start_again();
//! ```
//!
//! Dropping a server kills it by its pid and removes the folder. A server that
//! ended by itself, or whose log reports a crash (its children included), fails
//! the test that owns it and the end of its log is printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::run::explain;
use crate::{places, port, Client, Flavor, Protocol, Wire, PATIENCE};

/// How many ports are tried when others are faster.
const PORT_TRIES: usize = 20;
/// How much of the log is printed when a test fails.
const SHOWN_LOG_BYTES: usize = 6_000;

/// What a log says when a server or one of its children crashed.
const CRASH_MARKS: [&str; 6] = [
    "BUG REPORT START",
    "crashed by signal",
    "ASSERTION FAILED",
    "panicked at",
    "Guru Meditation",
    "stack backtrace",
];

/// What is set before a server starts.
#[derive(Clone)]
pub struct Builder {
    library: Option<PathBuf>,
    module_args: Vec<String>,
    config: Vec<(String, String)>,
}

impl Builder {
    fn new() -> Builder {
        let mut config = vec![
            ("bind".to_string(), "127.0.0.1".to_string()),
            ("save".to_string(), "\"\"".to_string()),
            ("appendonly".to_string(), "no".to_string()),
            ("daemonize".to_string(), "no".to_string()),
            // A first replica need not wait 5 s for a second.
            ("repl-diskless-sync-delay".to_string(), "0".to_string()),
            // It only slows the report of a crash down.
            ("crash-memcheck-enabled".to_string(), "no".to_string()),
        ];
        if !Flavor::current().is_before_7() {
            config.push(("enable-debug-command".to_string(), "yes".to_string()));
            config.push(("enable-module-command".to_string(), "yes".to_string()));
        }
        Builder { library: None, module_args: Vec::new(), config }
    }

    /// Loads the release library.
    ///
    /// # Panics
    /// If `ROARBITS_LIB` does not name it.
    pub fn release_library(mut self) -> Builder {
        self.library = Some(places::library());
        self
    }

    /// Loads the library built with assertions instead.
    ///
    /// # Panics
    /// If `ROARBITS_DEBUG_LIB` does not name it.
    pub fn debug_library(mut self) -> Builder {
        self.library = Some(places::debug_library());
        self
    }

    /// Loads no module.
    pub fn no_library(mut self) -> Builder {
        self.library = None;
        self
    }

    /// Adds arguments to the module's load line: `.module_args(&["max-reply", "10"])`.
    pub fn module_args(mut self, args: &[&str]) -> Builder {
        self.module_args.extend(args.iter().map(|arg| (*arg).to_string()));
        self
    }

    /// Adds a line to the config file; the value is written as it is, so quote
    /// it where redis.conf wants quotes. Later lines win.
    pub fn config(mut self, name: &str, value: &str) -> Builder {
        self.config.push((name.to_string(), value.to_string()));
        self
    }

    /// Saves an RDB at a clean shutdown (and after an hour, which no test lasts).
    pub fn rdb(self) -> Builder {
        self.config("save", "3600 1")
    }

    /// Keeps an append-only file, synced at every write. The preamble is the
    /// server's default; `config("aof-use-rdb-preamble", "no")` for plain commands.
    pub fn aof(self) -> Builder {
        self.config("appendonly", "yes").config("appendfsync", "always")
    }

    /// Starts the server and waits until it answers.
    ///
    /// # Panics
    /// With the end of the log, if it does not.
    pub fn start(self) -> Server {
        match self.try_start() {
            Ok(server) => server,
            Err(reason) => panic!("{reason}"),
        }
    }

    /// Starts the server.
    ///
    /// # Errors
    /// What happened and the end of the log, if it ends or does not answer: for
    /// tests of refused arguments and damaged files.
    pub fn try_start(self) -> Result<Server, String> {
        let dir = tempfile::Builder::new()
            .prefix("roarbits-")
            .tempdir()
            .map_err(|error| format!("no temporary folder: {error}"))?;
        let mut server = Server {
            builder: self,
            dir,
            port: 0,
            child: None,
            generation: 0,
            crash_expected: false,
            binary: places::server_binary(),
        };
        for _ in 0..PORT_TRIES {
            server.port = port::free();
            match server.launch() {
                Err(reason) if reason.contains("Address already in use") => continue,
                outcome => return outcome.map(|()| server),
            }
        }
        Err(format!("{PORT_TRIES} ports in a row were taken by others"))
    }
}

/// A running (or just stopped) server. See the file's head.
pub struct Server {
    builder: Builder,
    dir: TempDir,
    port: u16,
    child: Option<Child>,
    /// How often it was launched; each launch has a log of its own.
    generation: u32,
    crash_expected: bool,
    binary: PathBuf,
}

impl Server {
    /// A builder with the release library.
    ///
    /// # Panics
    /// If `ROARBITS_LIB` does not name it.
    pub fn builder() -> Builder {
        Builder::new().release_library()
    }

    /// A builder without the module.
    pub fn plain() -> Builder {
        Builder::new()
    }

    /// A server with the release library and nothing persisted.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Server {
        Server::builder().start()
    }

    /// The port it listens on, at 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Which server it is.
    pub fn flavor(&self) -> Flavor {
        Flavor::current()
    }

    /// Its folder, where its files are: `dump.rdb`, `appendonlydir` (`appendonly.aof` on 6.2).
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Its process id.
    ///
    /// # Panics
    /// If it is not running.
    pub fn pid(&self) -> u32 {
        match &self.child {
            Some(child) => child.id(),
            None => panic!("the server is not running"),
        }
    }

    /// A new RESP2 connection.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn client(&self) -> Client {
        Client::connect(self.port, Protocol::Resp2)
    }

    /// A new RESP3 connection.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn resp3(&self) -> Client {
        Client::connect(self.port, Protocol::Resp3)
    }

    /// A new RESP2 connection as a user.
    ///
    /// # Panics
    /// If it does not answer, or refuses the credentials.
    pub fn client_as(&self, user: &str, password: &str) -> Client {
        Client::connect_as(self.port, Protocol::Resp2, Some((user, password)))
    }

    /// A new raw connection.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn wire(&self, protocol: Protocol) -> Wire {
        Wire::connect(self.port, protocol)
    }

    /// The log since the last launch.
    pub fn log(&self) -> String {
        fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Replaces or adds a config line; it holds from the next launch on.
    pub fn set_config(&mut self, name: &str, value: &str) {
        self.builder.config.push((name.to_string(), value.to_string()));
    }

    /// Loads another build of the library from the next launch on.
    ///
    /// # Panics
    /// If `ROARBITS_DEBUG_LIB` does not name it.
    pub fn set_debug_library(&mut self) {
        self.builder.library = Some(places::debug_library());
    }

    /// Shuts down cleanly (RDB saved iff the config has save points) and starts
    /// again on the same files and port.
    ///
    /// # Panics
    /// If it does not end well, or does not start.
    pub fn restart(&mut self) {
        let status = self.stop();
        assert!(status.success(), "the server ended with {status}\n{}", self.log_tail());
        self.start_again();
    }

    /// Shuts down cleanly with SHUTDOWN and says how it ended.
    ///
    /// # Panics
    /// If it goes on running, or its log reports a crash.
    pub fn stop(&mut self) -> ExitStatus {
        // The reply is the end of the connection; an error keeps it running.
        if let Some(Err(refusal)) = self.client().cmd_or_gone(&["SHUTDOWN"]) {
            panic!("SHUTDOWN was refused: {refusal}\n{}", self.log_tail());
        }
        let status = self.wait_for_end();
        if let Some(mark) = self.crashed() {
            panic!("the log says `{mark}`\n{}", self.log_tail());
        }
        status
    }

    /// Kills it at once, as a power cut would.
    ///
    /// # Panics
    /// If it was not running any more, or its log reports a crash.
    pub fn kill9(&mut self) {
        self.check();
        self.kill();
    }

    /// Says that a crash (or a panic that the module catches and reports) is
    /// what the test wants: until the next launch the log is not held against it.
    pub fn expect_crash(&mut self) {
        self.crash_expected = true;
    }

    /// Waits for an end that the test expects, and says how it ended. A crash
    /// still fails the test, unless [`Server::expect_crash`] was called.
    ///
    /// # Panics
    /// If it goes on running.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let Some(child) = self.child.as_mut() else { panic!("the server is not running") };
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    self.child = None;
                    return status;
                }
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                Ok(None) => panic!("the server runs on after {PATIENCE:?}\n{}", self.log_tail()),
                Err(error) => panic!("cannot wait for the server: {error}"),
            }
        }
    }

    /// Starts a stopped or killed server on the same files and port.
    ///
    /// # Panics
    /// With the end of the log, if it does not start.
    pub fn start_again(&mut self) {
        if let Err(reason) = self.try_start_again() {
            panic!("{reason}");
        }
    }

    /// Starts a stopped or killed server on the same files and port.
    ///
    /// # Errors
    /// What happened and the end of the log, if it does not start: for tests of
    /// damaged files.
    pub fn try_start_again(&mut self) -> Result<(), String> {
        assert!(self.child.is_none(), "the server is still running");
        self.launch()
    }

    /// Fails the test if the server is gone or reported a crash.
    ///
    /// # Panics
    /// With the end of the log.
    pub fn check(&mut self) {
        if let Some(problem) = self.problem() {
            panic!("{problem}\n{}", self.log_tail());
        }
    }

    /// The words by which the log reports a crash of the server or of one of
    /// its children since the last launch, if it does.
    pub fn crashed(&self) -> Option<&'static str> {
        let log = self.log();
        CRASH_MARKS.into_iter().find(|mark| log.contains(mark))
    }

    /// What a person needs of the log: its end, or where a crash is reported,
    /// headed by where it is from.
    pub fn log_tail(&self) -> String {
        // Logs are ASCII but for keys that a report quotes: bytes do for cutting.
        let log = self.log().into_bytes();
        let crash = CRASH_MARKS.into_iter().filter_map(|mark| find(&log, mark.as_bytes())).min();
        let start = match crash {
            Some(at) => at.saturating_sub(SHOWN_LOG_BYTES / 4),
            None => log.len().saturating_sub(SHOWN_LOG_BYTES),
        };
        let shown = String::from_utf8_lossy(&log[start..log.len().min(start + SHOWN_LOG_BYTES)]).into_owned();
        format!("--- log of {} on port {} ---\n{shown}\n--- end of log ---", self.flavor(), self.port)
    }

    fn problem(&mut self) -> Option<String> {
        if let Some(child) = self.child.as_mut() {
            match child.try_wait() {
                Ok(Some(status)) => {
                    self.child = None;
                    return Some(format!("the server ended by itself with {status}"));
                }
                Ok(None) => {}
                Err(error) => return Some(format!("cannot ask for the server's state: {error}")),
            }
        }
        if self.crash_expected {
            return None;
        }
        self.crashed().map(|mark| format!("the log says `{mark}`"))
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if the process is gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn launch(&mut self) -> Result<(), String> {
        self.generation += 1;
        self.crash_expected = false;
        let config = self.write_config().map_err(|error| format!("cannot write the config: {error}"))?;
        let output = fs::File::create(self.dir.path().join(format!("output-{}.log", self.generation)))
            .and_then(|file| Ok((file.try_clone()?, file)))
            .map_err(|error| format!("cannot write the log: {error}"))?;
        let child = Command::new(&self.binary)
            .arg(config)
            .current_dir(self.dir.path())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(output.0)
            .stderr(output.1)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.binary.display()))?;
        self.child = Some(child);
        self.wait_until_it_answers().inspect_err(|_| self.kill())
    }

    fn log_path(&self) -> PathBuf {
        self.dir.path().join(format!("output-{}.log", self.generation))
    }

    fn write_config(&self) -> std::io::Result<PathBuf> {
        let mut text = format!("port {}\ndir {}\n", self.port, self.dir.path().display());
        for (name, value) in &self.builder.config {
            text.push_str(&format!("{name} {value}\n"));
        }
        if let Some(library) = &self.builder.library {
            text.push_str(&format!(
                "loadmodule {} {}\n",
                library.display(),
                self.builder.module_args.join(" ")
            ));
        }
        let path = self.dir.path().join("server.conf");
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Answers means: PING is answered by this very process, not by another
    /// that got the port first, and nothing is being loaded any more.
    fn wait_until_it_answers(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(problem) = self.problem() {
                return Err(format!("the server did not start: {problem}\n{}", self.log_tail()));
            }
            if self.answers()? {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("the server does not answer after {PATIENCE:?}\n{}", self.log_tail()));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn answers(&mut self) -> Result<bool, String> {
        let Ok(mut client) = Client::try_connect(self.port, Protocol::Resp2, None) else {
            return Ok(false);
        };
        // A first connection can be cut by a server that ends: problem() tells.
        let Some(pong) = client.cmd_or_gone(&["PING"]) else {
            return Ok(false);
        };
        match pong {
            Ok(_) => {}
            Err(error) if error.starts_with("LOADING") => return Ok(false),
            // With a password set, or as a replica that serves no stale data, it is up.
            Err(error) if error.starts_with("NOAUTH") || error.starts_with("MASTERDOWN") => return Ok(true),
            Err(error) => return Err(format!("PING was answered: {error}\n{}", self.log_tail())),
        }
        let own = format!("process_id:{}", self.pid());
        match client.cmd_or_gone(&["INFO", "server"]) {
            Some(Ok(redis::Value::BulkString(info))) => {
                let info = String::from_utf8_lossy(&info).into_owned();
                if info.lines().any(|line| line.trim() == own) {
                    Ok(true)
                } else {
                    Err("Address already in use: another server answers".to_string())
                }
            }
            _ => Ok(false),
        }
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|window| window == mark)
}

impl Drop for Server {
    fn drop(&mut self) {
        let problem = self.problem();
        self.kill();
        if thread::panicking() {
            explain(&self.log_tail());
            if let Some(problem) = problem {
                explain(&problem);
            }
        } else if let Some(problem) = problem {
            panic!("{problem}\n{}", self.log_tail());
        }
    }
}
