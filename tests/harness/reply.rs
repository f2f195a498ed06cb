//! Arguments of any kind in one list, and replies with errors kept verbatim.

use redis::{RedisError, ServerError, Value};

/// The arguments of one command, name first.
pub type Args = Vec<Vec<u8>>;

/// What a command came to: the reply, or the error line exactly as the server
/// sent it, prefix included (`ERR syntax error`).
pub type Outcome = Result<Value, String>;

/// Anything that can be typed as an argument.
pub trait IntoArg {
    /// The bytes sent.
    fn into_arg(self) -> Vec<u8>;
}

impl IntoArg for &str {
    fn into_arg(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}

impl IntoArg for String {
    fn into_arg(self) -> Vec<u8> {
        self.into_bytes()
    }
}

impl IntoArg for &String {
    fn into_arg(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}

impl IntoArg for &[u8] {
    fn into_arg(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl<const N: usize> IntoArg for &[u8; N] {
    fn into_arg(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl IntoArg for Vec<u8> {
    fn into_arg(self) -> Vec<u8> {
        self
    }
}

impl IntoArg for &Vec<u8> {
    fn into_arg(self) -> Vec<u8> {
        self.clone()
    }
}

macro_rules! decimal_arguments {
    ($($kind:ty),*) => {
        $(impl IntoArg for $kind {
            fn into_arg(self) -> Vec<u8> {
                self.to_string().into_bytes()
            }
        })*
    };
}
decimal_arguments!(i32, i64, u16, u32, u64, u128, usize, f64);

/// Lists arguments of mixed kinds: `args!["RB.IMPORT", key, payload, "FORMAT", "NATIVE"]`.
/// Integers are written in decimal.
#[macro_export]
macro_rules! args {
    ($($arg:expr),* $(,)?) => { $crate::Args::from([$($crate::IntoArg::into_arg($arg)),*]) };
}

/// The error line as the server sent it, without the leading `-`.
pub fn error_text(error: &ServerError) -> String {
    match error.details() {
        Some(details) => format!("{} {details}", error.code()),
        None => error.code().to_string(),
    }
}

/// Splits what the client crate returns into reply and error line.
///
/// # Panics
/// If the connection failed: that is no reply, and most often a dead server.
pub(crate) fn outcome(result: Result<Value, RedisError>, command: &dyn Fn() -> String) -> Outcome {
    match result {
        Ok(Value::ServerError(error)) => Err(error_text(&error)),
        Ok(value) => Ok(value),
        Err(error) => match ServerError::try_from(error) {
            Ok(error) => Err(error_text(&error)),
            Err(broken) => panic!("no reply to {}: {broken}", command()),
        },
    }
}

/// One command, readable: non-printing bytes escaped, long arguments cut.
pub fn describe<A: AsRef<[u8]>>(args: &[A]) -> String {
    const SHOWN_BYTES: usize = 60;
    const SHOWN_ARGS: usize = 20;
    let mut words: Vec<String> = args
        .iter()
        .take(SHOWN_ARGS)
        .map(|arg| {
            let bytes = arg.as_ref();
            let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
            let ellipsis = if shown.len() < bytes.len() { "..." } else { "" };
            format!("{}{ellipsis}", shown.escape_ascii())
        })
        .collect();
    if args.len() > SHOWN_ARGS {
        words.push(format!("... ({} arguments)", args.len()));
    }
    words.join(" ")
}
