//! How rows spell their arguments, keys and examples: const constructors, so that a
//! row reads like the syntax it describes.

use crate::row::{Access, Arg, ArgKind, BeginSearch, Example, FindKeys, KeySpec, Keys};

impl Arg {
    /// A required argument, once, with no token.
    pub const fn new(name: &'static str, kind: ArgKind) -> Self {
        Self { name, kind, token: None, optional: false, multiple: false, since: None }
    }

    /// The key of the key spec with index `spec`.
    pub const fn key(name: &'static str, spec: usize) -> Self {
        Self::new(name, ArgKind::Key(spec))
    }

    /// Any bytes.
    pub const fn text(name: &'static str) -> Self {
        Self::new(name, ArgKind::Text)
    }

    /// A number, ids included.
    pub const fn integer(name: &'static str) -> Self {
        Self::new(name, ArgKind::Integer)
    }

    /// The literal `word` alone.
    pub const fn word(name: &'static str, word: &'static str) -> Self {
        Self::new(name, ArgKind::PureToken).token(word)
    }

    /// One of `choices`.
    pub const fn one_of(name: &'static str, choices: &'static [Arg]) -> Self {
        Self::new(name, ArgKind::OneOf(choices))
    }

    /// All of `parts`, in order.
    pub const fn block(name: &'static str, parts: &'static [Arg]) -> Self {
        Self::new(name, ArgKind::Block(parts))
    }

    /// The same, after the literal `token`.
    pub const fn token(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }

    /// The same, but it may be left out.
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same, but it may be repeated.
    pub const fn multiple(mut self) -> Self {
        self.multiple = true;
        self
    }
}

impl KeySpec {
    /// The one key at `position`; 1 is the first argument.
    pub const fn one(access: Access, position: i32) -> Self {
        Self::range(access, position, 0, 1)
    }

    /// The keys from `position` to the relative `last` (-1 is the last argument), every `step`.
    pub const fn range(access: Access, position: i32, last: i32, step: i32) -> Self {
        let find = FindKeys::Range { last, step, limit: 0 };
        Self { access, begin: BeginSearch::Index(position), find, incomplete: false }
    }
}

impl KeySpec {
    /// As many keys as the number at `position` says, right after it.
    pub const fn counted(access: Access, position: i32) -> Self {
        let find = FindKeys::Numkeys { numkeys: 0, first: 1, step: 1 };
        Self { access, begin: BeginSearch::Index(position), find, incomplete: false }
    }
}

impl Keys {
    /// One key, the first argument.
    pub const FIRST: Self = Self::Range { first: 1, last: 1, step: 1 };
}

impl Example {
    /// `input` typed into redis-cli prints `output`.
    pub const fn new(input: &'static str, output: &'static str) -> Self {
        Self { input, output }
    }
}
