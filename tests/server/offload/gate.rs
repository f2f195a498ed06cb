//! Keeps the one worker of a server at work, as long as a test likes.

use roarbits_tests::{
    args, eventually, Args, Builder, Client, Outcome, Protocol, Server, Value, Wire, PATIENCE,
};

use crate::samples;

/// Operands of a long question, and bytes of noise in each.
const OPERANDS: usize = 16;
const OPERAND_BYTES: usize = 1 << 21;
/// Parts of a long question, no two alike; each is worked through at every leaf.
const PARTS: usize = 2_400;
/// Long questions. Each took a second where this was written.
const QUESTIONS: usize = 12;

/// One worker, and everything that has a cost goes to it.
pub fn one_worker() -> Builder {
    Server::builder().module_args(&["worker-threads", "1", "inline-budget", "0"])
}

/// A number of INFO's section of the module.
pub fn figure(client: &mut Client, name: &str) -> u64 {
    client.info_number("roarbits", &format!("roarbits_{name}"))
}

/// A question that takes long, over the keys that [`Gate::prepare`] makes.
pub fn long_question() -> Args {
    let operands = || 1..=OPERANDS;
    let pairs = operands().flat_map(|a| operands().map(move |b| (a, b)));
    let threes = pairs.flat_map(|(a, b)| operands().map(move |c| (a, b, c)));
    let different = threes.filter(|(a, b, c)| a != b && b != c && a != c);
    let parts: Vec<String> = different.map(|(a, b, c)| format!("(${a}-${b}&${c})")).take(PARTS).collect();
    let mut call = args!["RB.EXPR", OPERANDS];
    call.extend((0..OPERANDS).map(|nth| busy_key(nth).into_bytes()));
    call.push(parts.join("^").into_bytes());
    call
}

fn busy_key(nth: usize) -> String {
    format!("busy:{nth}")
}

/// Long questions that wait for their answers; dropped, they are taken back.
pub struct Gate {
    questions: Vec<Wire>,
}

impl Gate {
    /// Makes the keys of the long questions.
    pub fn prepare(client: &mut Client) {
        let noise = samples::noise(OPERAND_BYTES + OPERANDS);
        for nth in 0..OPERANDS {
            let bits = &noise[nth..nth + OPERAND_BYTES];
            client.ask(&args!["RB.IMPORT", busy_key(nth), bits, "FORMAT", "STRING"]);
        }
    }

    /// Sends so many long questions as keep the worker for long.
    pub fn close(server: &Server) -> Gate {
        Gate::close_with(server, QUESTIONS)
    }

    /// Sends so many long questions, and waits until the server has them all.
    pub fn close_with(server: &Server, count: usize) -> Gate {
        let mut gate = Gate { questions: Vec::new() };
        let (call, mut client) = (long_question(), server.client());
        for _ in 0..count {
            let waiting = Waiting::send(server, &call);
            waiting.is_blocked(&mut client);
            gate.questions.push(waiting.wire);
        }
        gate
    }

    /// Takes the questions back and waits until the server has noticed.
    pub fn open(self, client: &mut Client) {
        drop(self.questions);
        eventually("the questions are taken back", || figure(client, "queue") == 0);
    }
}

/// A call whose reply is awaited.
pub struct Waiting {
    /// Its connection.
    pub wire: Wire,
    id: i64,
    call: String,
}

impl Waiting {
    /// Sends a call on a connection of its own.
    pub fn send(server: &Server, call: &Args) -> Waiting {
        Waiting::send_on(server.wire(Protocol::Resp2), call)
    }

    /// Sends a call on a connection.
    pub fn send_on(mut wire: Wire, call: &Args) -> Waiting {
        let Ok(Value::Int(id)) = wire.call(&["CLIENT", "ID"]) else { panic!("CLIENT ID is no number") };
        wire.send(call);
        Waiting { wire, id, call: String::from_utf8_lossy(&call[0]).into_owned() }
    }

    /// The id of its client.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// Waits until the server has blocked its client.
    pub fn is_blocked(&self, client: &mut Client) {
        let own = format!("id={} ", self.id);
        eventually(&format!("the client of {} is blocked", self.call), || {
            let list = client.text(&["CLIENT", "LIST"]);
            let line = list.lines().find(|line| line.starts_with(&own)).map(str::to_string);
            let flags = line
                .as_deref()
                .and_then(|line| line.split(" flags=").nth(1)?.split(' ').next().map(str::to_string));
            flags.is_some_and(|flags| flags.contains('b'))
        });
    }

    /// Sends a call and waits until its client is blocked.
    pub fn behind(server: &Server, call: &Args) -> Waiting {
        let waiting = Waiting::send(server, call);
        waiting.is_blocked(&mut server.client());
        waiting
    }

    /// The reply.
    ///
    /// # Panics
    /// If none comes.
    pub fn reply(&mut self) -> Outcome {
        match self.wire.read(PATIENCE) {
            Some(Value::ServerError(error)) => Err(roarbits_tests::error_text(&error)),
            Some(value) => Ok(value),
            None => panic!("no reply to {}", self.call),
        }
    }
}

/// Waits until no call has snapshots, nor bytes in flight.
pub fn nothing_is_left(client: &mut Client) {
    eventually("no snapshot is alive", || figure(client, "snapshots_live") == 0);
    assert_eq!(figure(client, "offload_bytes"), 0);
    assert_eq!(figure(client, "queue"), 0);
}

/// What the keys hold, but for those of the long questions, whose digests take long.
pub fn digests(client: &mut Client) -> Vec<(String, String)> {
    let mut keys = client.texts(&["KEYS", "*"]);
    keys.retain(|key| !key.starts_with("busy:"));
    keys.sort();
    keys.into_iter().map(|key| (key.clone(), client.digest(&key))).collect()
}
