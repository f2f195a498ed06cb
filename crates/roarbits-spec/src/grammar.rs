//! The one renderer of syntax lines: `RB.COUNT key [start end]`.
//!
//! `[x]` may be left out, `x [x ...]` may be repeated, `A|B` is one of two
//! words, `<a b | c>` is one of longer alternatives.

use crate::row::{Arg, ArgKind, Command};

impl Command {
    /// The syntax as typed: the name and every argument, in order.
    pub fn syntax(&self) -> String {
        let mut out = self.name.to_owned();
        for arg in self.args {
            out.push(' ');
            out.push_str(&arg.syntax());
        }
        out
    }
}

impl Arg {
    /// The argument in a syntax line.
    pub fn syntax(&self) -> String {
        let mut content = self.content();
        if self.multiple {
            let once = self.grouped(content);
            content = format!("{once} [{once} ...]");
        } else if !self.optional || self.has_prefix() {
            content = self.grouped(content);
        }
        if let (Some(token), true) = (self.token, self.has_prefix()) {
            content = format!("{token} {content}");
        }
        if self.optional {
            content = format!("[{content}]");
        }
        content
    }

    /// Whether its token is typed before something else, not alone.
    fn has_prefix(&self) -> bool {
        self.token.is_some() && !matches!(self.kind, ArgKind::PureToken)
    }

    /// The argument once, with neither token nor brackets of its own.
    fn content(&self) -> String {
        match self.kind {
            ArgKind::PureToken => self.token.unwrap_or(self.name).to_owned(),
            ArgKind::OneOf(choices) => join(choices, if self.is_tight() { "|" } else { " | " }),
            ArgKind::Block(parts) => join(parts, " "),
            ArgKind::Key(_) | ArgKind::Text | ArgKind::Integer | ArgKind::Double => self.name.to_owned(),
        }
    }

    /// `content` in angle brackets where it is a choice that would else run into its neighbours.
    fn grouped(&self, content: String) -> String {
        if matches!(self.kind, ArgKind::OneOf(_)) && !self.is_tight() {
            format!("<{content}>")
        } else {
            content
        }
    }

    /// Whether every alternative of a choice is one word.
    fn is_tight(&self) -> bool {
        self.kind.children().iter().all(|choice| !choice.syntax().contains(' '))
    }
}

fn join(args: &[Arg], separator: &str) -> String {
    args.iter().map(Arg::syntax).collect::<Vec<_>>().join(separator)
}
