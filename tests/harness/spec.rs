//! The rows of the command table, read from `docs/commands.json`, which the
//! spec crate renders. Loops over them make a new command without tests fail.

use std::fs;

use serde_json::Value;

use crate::places;

/// One command's row.
#[derive(Debug, Clone)]
pub struct Row {
    json: Value,
}

/// All rows, in the table's order.
///
/// # Panics
/// If the file is missing or no list of commands.
pub fn rows() -> Vec<Row> {
    let path = places::repository().join("docs/commands.json");
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error} (make docs renders it)", path.display()));
    let json: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = json.as_array().unwrap_or_else(|| panic!("{} holds no list of commands", path.display()));
    assert!(!rows.is_empty(), "{} lists no command", path.display());
    rows.iter().map(|json| Row { json: json.clone() }).collect()
}

/// The row of one command.
///
/// # Panics
/// If it has none.
pub fn row(name: &str) -> Row {
    let found = rows().into_iter().find(|row| row.name() == name);
    found.unwrap_or_else(|| panic!("docs/commands.json has no {name}"))
}

impl Row {
    /// The name as typed: `RB.SETBIT`.
    ///
    /// # Panics
    /// If the row has none.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// As COMMAND INFO: the number of arguments with the name; negative is a minimum.
    ///
    /// # Panics
    /// If the row has none.
    pub fn arity(&self) -> i64 {
        match self.json.get("arity").and_then(Value::as_i64) {
            Some(arity) => arity,
            None => panic!("a row without arity: {}", self.json),
        }
    }

    /// True if the row has a registration flag: `write`, `readonly`, `deny-oom`, `fast`.
    pub fn has_flag(&self, flag: &str) -> bool {
        let flags = self.json.get("flags").and_then(Value::as_array);
        flags.is_some_and(|flags| flags.iter().any(|found| found.as_str() == Some(flag)))
    }

    /// True if the command may change data.
    pub fn is_write(&self) -> bool {
        self.has_flag("write")
    }

    /// The keyspace event that a change fires, where the command writes.
    pub fn event(&self) -> Option<&str> {
        self.json.get("event").and_then(Value::as_str)
    }

    /// The session of the row: lines as typed into redis-cli on an empty
    /// database and what it prints for each (see `terminal`).
    ///
    /// # Panics
    /// If an example lacks either.
    pub fn examples(&self) -> Vec<(String, String)> {
        let examples = self.json.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
        let field = |example: &Value, name: &str| match example.get(name).and_then(Value::as_str) {
            Some(text) => text.to_string(),
            None => panic!("{} has an example without {name}", self.name()),
        };
        examples.iter().map(|example| (field(example, "input"), field(example, "output"))).collect()
    }

    /// A text field.
    ///
    /// # Panics
    /// If the row has no such text.
    pub fn text(&self, field: &str) -> &str {
        match self.json.get(field).and_then(Value::as_str) {
            Some(text) => text,
            None => panic!("a row without {field}: {}", self.json),
        }
    }

    /// The whole row, for what has no accessor here.
    pub fn json(&self) -> &Value {
        &self.json
    }
}
