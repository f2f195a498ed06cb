//! What follows from a row and is therefore not written in it: words for flags
//! and access, ACL categories, the smallest call.

use crate::row::{Access, Arg, ArgKind, Command, Flag, Group, KeySpec, Keys};

impl Command {
    /// True if the command may change the data set.
    pub fn is_write(&self) -> bool {
        self.has(Flag::Write)
    }

    /// The keyspace event of a change as text.
    pub fn event_name(&self) -> Option<&'static str> {
        self.event.and_then(|event| event.to_str().ok())
    }

    /// True if the server asks the command's parser for the keys (`getkeys-api`).
    pub fn movable_keys(&self) -> bool {
        self.keys == Keys::Parsed
    }

    /// True if the row has `flag`.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The ACL categories, without the `@`: `read`, `fast`, `bitmap`, `roarbits`.
    pub fn acl_categories(&self) -> [&'static str; 4] {
        let access = if self.is_write() { "write" } else { "read" };
        let speed = if self.has(Flag::Fast) { "fast" } else { "slow" };
        [access, speed, "bitmap", "roarbits"]
    }

    /// The fewest arguments a call has, the name included.
    pub fn min_arguments(&self) -> usize {
        1 + self.args.iter().map(Arg::min_arguments).sum::<usize>()
    }
}

impl Arg {
    /// The fewest arguments it takes up in a call; 0 if it is optional.
    pub fn min_arguments(&self) -> usize {
        if self.optional {
            return 0;
        }
        let content = match self.kind {
            ArgKind::PureToken => 0,
            ArgKind::OneOf(choices) => choices.iter().map(Self::min_arguments).min().unwrap_or(0),
            ArgKind::Block(parts) => parts.iter().map(Self::min_arguments).sum(),
            ArgKind::Key(_) | ArgKind::Text | ArgKind::Integer | ArgKind::Double => 1,
        };
        content + usize::from(self.token.is_some())
    }
}

impl ArgKind {
    /// The type as COMMAND DOCS names it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::PureToken => "pure-token",
            Self::OneOf(_) => "oneof",
            Self::Block(_) => "block",
        }
    }

    /// The arguments inside a choice or a block.
    pub fn children(&self) -> &'static [Arg] {
        match self {
            Self::OneOf(args) | Self::Block(args) => args,
            _ => &[],
        }
    }
}

impl Flag {
    /// The flag as a module gives it at registration: `deny-oom`.
    pub fn registered(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Readonly => "readonly",
            Self::DenyOom => "deny-oom",
            Self::Fast => "fast",
        }
    }

    /// The flag as COMMAND INFO replies it: `denyoom`.
    pub fn introspected(self) -> &'static str {
        match self {
            Self::DenyOom => "denyoom",
            other => other.registered(),
        }
    }
}

impl Access {
    /// The key spec flags as COMMAND INFO replies them.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["RO", "access"],
            Self::ReadUpdate => &["RW", "access", "update"],
            Self::Update => &["RW", "update"],
            Self::Insert => &["RW", "insert"],
            Self::Delete => &["RW", "delete"],
            Self::Overwrite => &["OW", "update"],
            Self::Inspect => &["RO"],
        }
    }
}

impl KeySpec {
    /// Its flags as COMMAND INFO replies them, `incomplete` included.
    pub fn words(&self) -> Vec<&'static str> {
        let mut words = self.access.words().to_vec();
        if self.incomplete {
            words.push("incomplete");
        }
        words
    }
}

impl Group {
    /// The family as pages and `commands.json` name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Sets => "sets",
            Self::Questions => "questions",
            Self::Moving => "moving",
            Self::Debug => "debug",
        }
    }

    /// The family's heading, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Bits => "Bits by their native names",
            Self::Sets => "Sets and ranges of ids",
            Self::Questions => "Questions to many keys at once",
            Self::Moving => "Moving data in and out",
            Self::Debug => "Development",
        }
    }
}
