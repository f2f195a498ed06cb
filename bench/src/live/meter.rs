//! What a server spends: CPU time of its main thread, time inside a command,
//! bytes. Servers shrink and grow the buffers of connections as they see fit, so
//! bytes are read when no connection is open but a fresh one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use redis::cmd;

use super::launch::Server;
use super::link::Link;

/// How long a server may take to come to rest.
const REST_LIMIT: Duration = Duration::from_secs(60);
/// Between two looks at a server that comes to rest.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Equal readings of memory in a row that mean rest.
const EQUAL_READINGS: usize = 3;
/// Between readings of memory: what is freed on another thread shows between two.
const MEMORY_EVERY: Duration = Duration::from_millis(8);

/// Reads one server.
pub struct Meter {
    link: Link,
    schedstat: PathBuf,
    /// Whether the kernel counts nanoseconds a thread; else INFO's microseconds serve.
    counts_ns: bool,
}

/// Calls of a command so far, and their time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls {
    /// How many.
    pub calls: f64,
    /// All together, in microseconds.
    pub us: f64,
}

impl Meter {
    /// Looks at this server.
    ///
    /// # Errors
    /// It does not answer, or neither the kernel nor the server tells CPU time by thread.
    pub fn new(server: &Server) -> io::Result<Self> {
        let pid = server.pid();
        let schedstat = PathBuf::from(format!("/proc/{pid}/task/{pid}/schedstat"));
        let mut meter = Self { link: server.link(), schedstat, counts_ns: true };
        meter.counts_ns = meter.read_schedstat().is_ok_and(|ns| ns > 0.0);
        meter.cpu_ns()?;
        Ok(meter)
    }

    /// CPU time of the main thread in nanoseconds, once it has nothing left to do.
    ///
    /// # Errors
    /// It never rests, or nobody tells.
    pub fn cpu_ns(&mut self) -> io::Result<f64> {
        if !self.counts_ns {
            return self.cpu_by_info();
        }
        let deadline = Instant::now() + REST_LIMIT;
        let mut last = self.read_schedstat()?;
        while Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
            let now = self.read_schedstat()?;
            if now == last {
                return Ok(now);
            }
            last = now;
        }
        Err(io::Error::other("the server's main thread never rests"))
    }

    /// CPU time of all threads in nanoseconds, once the main one has nothing left to do.
    ///
    /// # Errors
    /// As `cpu_ns`, or the kernel does not tell.
    pub fn all_cpu_ns(&mut self) -> io::Result<f64> {
        self.cpu_ns()?;
        // Beside the main thread's own folder there is one for each thread.
        let threads = self.schedstat.parent().and_then(Path::parent).map(fs::read_dir);
        let threads = threads.ok_or_else(|| io::Error::other("the process has no threads"))??;
        threads.map(|thread| read_schedstat(&thread?.path().join("schedstat"))).sum()
    }

    fn read_schedstat(&self) -> io::Result<f64> {
        read_schedstat(&self.schedstat)
    }

    fn cpu_by_info(&mut self) -> io::Result<f64> {
        let info = self.link.info("cpu")?;
        let field = |name| info.number(name);
        let (user, system) = (field("used_cpu_user_main_thread"), field("used_cpu_sys_main_thread"));
        match (user, system) {
            (Some(user), Some(system)) => Ok((user + system) * 1e9),
            _ => Err(io::Error::other(
                "no CPU time by thread: take Linux with /proc/<pid>/task/<tid>/schedstat, or a server of 7.0 or later",
            )),
        }
    }

    /// Calls of a command by the server's own count.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn calls(&mut self, command: &str) -> io::Result<Calls> {
        let info = self.link.info("commandstats")?;
        let line = info.text_of(&format!("cmdstat_{command}")).unwrap_or_default();
        let field = |name: &str| line.split(',').find_map(|part| part.strip_prefix(name)?.parse().ok());
        Ok(Calls { calls: field("calls=").unwrap_or_default(), us: field("usec=").unwrap_or_default() })
    }

    /// `used_memory`, once it changes no more: what is freed later is freed.
    ///
    /// # Errors
    /// It never rests, or the connection breaks.
    pub fn used_memory(&mut self) -> io::Result<f64> {
        self.link.close();
        // Refused where the allocator is another one; it changes the process, not this count.
        let _ = self.link.ask(cmd("MEMORY").arg("PURGE"));
        let deadline = Instant::now() + REST_LIMIT;
        let (mut last, mut equal) = (0.0, 0);
        while Instant::now() < deadline {
            let used = self.link.info("memory")?.number("used_memory").unwrap_or_default();
            equal = if used == last { equal + 1 } else { 0 };
            if equal == EQUAL_READINGS {
                self.link.close();
                return Ok(used);
            }
            last = used;
            thread::sleep(MEMORY_EVERY);
        }
        Err(io::Error::other("the server's used_memory never rests"))
    }
}

/// The CPU time of a thread, by its schedstat.
fn read_schedstat(path: &Path) -> io::Result<f64> {
    let text = fs::read_to_string(path)?;
    let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
    first.ok_or_else(|| io::Error::other("schedstat holds no number"))
}
