//! One real server a value: its own folder and port on the loopback, nothing
//! persisted, killed by its pid when dropped.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::link::Link;

/// How long a server may take to answer.
const START_LIMIT: Duration = Duration::from_secs(20);
/// How many ports are tried when others are faster.
const PORT_TRIES: usize = 10;

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    /// Starts `binary` with a module and its arguments, if any, and waits until it answers.
    ///
    /// # Errors
    /// The binary cannot be started, or ends; the message holds what it said.
    pub fn start(binary: &Path, module: Option<&Path>, args: &[&str]) -> io::Result<Self> {
        let mut problem = String::new();
        for _ in 0..PORT_TRIES {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            match Self::start_at(port, binary, module, args) {
                Err(error) if error.to_string().contains("Address already in use") => {
                    problem = error.to_string()
                }
                outcome => return outcome,
            }
        }
        Err(io::Error::other(format!("{PORT_TRIES} ports in a row were taken by others: {problem}")))
    }

    fn start_at(port: u16, binary: &Path, module: Option<&Path>, args: &[&str]) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("roarbits-bench-").tempdir()?;
        let log = fs::File::create(folder.path().join("log"))?;
        let mut command = Command::new(binary);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]).arg("--dir").arg(folder.path());
        command.args(["--save", "", "--appendonly", "no", "--daemonize", "no"]);
        // A slow log keeps the arguments of slow commands: bytes that no key has.
        command.args(["--slowlog-log-slower-than", "-1"]);
        if let Some(module) = module {
            command.arg("--loadmodule").arg(module).args(args);
        }
        let child =
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn().map_err(|error| {
                let path = binary.display();
                io::Error::other(format!(
                    "cannot start {path}: {error} (make setup installs redis-server; --server names another)"
                ))
            })?;
        let mut server = Self { child, port, folder };
        server.wait_until_it_answers()?;
        Ok(server)
    }

    fn wait_until_it_answers(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("the server ended with {status}; its log:\n{log}")));
            }
            let answer = self.link().info("server");
            if answer.is_ok_and(|info| info.number("process_id") == Some(f64::from(self.child.id()))) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(io::Error::other(format!("the server does not answer after {START_LIMIT:?}")))
    }

    /// A new connection.
    pub fn link(&self) -> Link {
        Link::to(self.port)
    }

    /// Its process id, which is also that of its main thread.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The file that SAVE writes.
    pub fn dump_file(&self) -> PathBuf {
        self.folder.path().join("dump.rdb")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
