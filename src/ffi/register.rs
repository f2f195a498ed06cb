//! Commands made known to the server from their rows: flags, keys, COMMAND INFO
//! and DOCS, ACL categories. What a server lacks is left out.

use std::ffi::{c_char, c_int, CString};
use std::pin::Pin;
use std::sync::OnceLock;

use redis_module::raw;
use roarbits_spec::{Access, Arg, ArgKind, BeginSearch, Command, FindKeys, Flag, KeySpec, Keys};

use super::context::log_line;
use super::trampoline::{call, Handler};

type Function =
    unsafe extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

/// A handler and its row, ready to be made known to the server.
pub struct Registration {
    /// The name of the row.
    pub name: &'static str,
    slot: &'static OnceLock<&'static Command>,
    function: Function,
}

impl Registration {
    /// The registration of the handler `H`.
    pub fn of<H: Handler>() -> Self {
        Self { name: H::NAME, slot: H::row(), function: call::<H> }
    }
}

/// Registers every row with its handler.
///
/// # Errors
/// A row without a handler, a handler without a row, or a refusal of the server, in words.
pub(super) fn register_all(
    ctx: *mut raw::RedisModuleCtx,
    rows: &[&'static Command],
    handlers: &[Registration],
) -> Result<(), String> {
    if let Some(extra) = handlers.iter().find(|handler| !rows.iter().any(|row| row.name == handler.name)) {
        return Err(format!("{} has no row", extra.name));
    }
    add_acl_category(ctx);
    for row in rows {
        let handler = handlers.iter().find(|handler| handler.name == row.name);
        register(ctx, row, handler.ok_or_else(|| format!("{} has no handler", row.name))?)?;
    }
    Ok(())
}

fn register(
    ctx: *mut raw::RedisModuleCtx,
    row: &'static Command,
    handler: &Registration,
) -> Result<(), String> {
    handler.slot.get_or_init(|| row);
    let mut texts = Texts::default();
    let name = texts.keep(&row.name.to_ascii_lowercase());
    let flags = texts.keep(&registration_flags(row));
    let (first, last, step) = match row.keys {
        Keys::Range { first, last, step } => (first, last, step),
        Keys::Parsed => (0, 0, 0),
    };
    // SAFETY: preconditions 1 and 2, during OnLoad; the server copies the texts.
    let created = unsafe {
        api!(RedisModule_CreateCommand)(ctx, name, Some(handler.function), flags, first, last, step)
    };
    if created != raw::REDISMODULE_OK as c_int {
        return Err(format!("the server refuses the command {}", row.name));
    }
    // SAFETY: the static is written once, before any call.
    let Some(get_command) = (unsafe { raw::RedisModule_GetCommand }) else {
        return Ok(());
    };
    // SAFETY: precondition 1; the name is a C string.
    let command = unsafe { get_command(ctx, name) };
    if command.is_null() {
        return Err(format!("the server does not know the command {} it was given", row.name));
    }
    describe(command, row)?;
    set_acl_categories(ctx, command, row);
    Ok(())
}

fn registration_flags(row: &Command) -> String {
    let mut words: Vec<&str> = row.flags.iter().copied().map(Flag::registered).collect();
    if row.movable_keys() {
        words.push("getkeys-api");
    }
    words.join(" ")
}

/// Adds the category `roarbits`, where the server has categories of modules.
fn add_acl_category(ctx: *mut raw::RedisModuleCtx) {
    // SAFETY: the static is written once; preconditions 1, during OnLoad.
    unsafe {
        if let Some(add) = raw::RedisModule_AddACLCategory {
            if add(ctx, c"roarbits".as_ptr()) != raw::REDISMODULE_OK as c_int {
                log_line(ctx, c"warning", "the server refuses the ACL category roarbits");
            }
        }
    }
}

fn set_acl_categories(ctx: *mut raw::RedisModuleCtx, command: *mut raw::RedisModuleCommand, row: &Command) {
    let Ok(categories) = CString::new(row.acl_categories().join(" ")) else {
        return;
    };
    // SAFETY: the static is written once; the command was just created, during OnLoad.
    unsafe {
        if let Some(set) = raw::RedisModule_SetCommandACLCategories {
            if set(command, categories.as_ptr()) != raw::REDISMODULE_OK as c_int {
                log_line(ctx, c"warning", &format!("the server refuses the ACL categories of {}", row.name));
            }
        }
    }
}

/// Gives COMMAND INFO and COMMAND DOCS what the row says, where the server asks for it.
fn describe(command: *mut raw::RedisModuleCommand, row: &Command) -> Result<(), String> {
    // SAFETY: the static is written once, before any call.
    let Some(set_info) = (unsafe { raw::RedisModule_SetCommandInfo }) else {
        return Ok(());
    };
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
    };
    let mut texts = Texts::default();
    let mut key_specs = key_specs(&mut texts, row.key_specs);
    let mut history = history(&mut texts, row.history);
    let mut trees = Trees::default();
    let info = raw::RedisModuleCommandInfo {
        version: &version,
        summary: texts.keep(row.summary),
        complexity: texts.keep(row.complexity),
        since: texts.keep(row.since),
        history: if row.history.is_empty() { std::ptr::null_mut() } else { history.as_mut_ptr() },
        tips: if row.tips.is_empty() { std::ptr::null() } else { texts.keep(&row.tips.join(" ")) },
        arity: row.arity,
        key_specs: key_specs.as_mut_ptr(),
        args: trees.plant(&mut texts, row.args),
    };
    // SAFETY: every pointer in `info` lives until the end of this function, arrays end in a zeroed
    // element, and the server copies everything.
    match unsafe { set_info(command, &info) } == raw::REDISMODULE_OK as c_int {
        true => Ok(()),
        false => Err(format!("the server refuses the description of {}", row.name)),
    }
}

/// C strings that stay where they are until dropped.
#[derive(Default)]
struct Texts(Vec<CString>);

impl Texts {
    /// A pointer to a copy of `text`, cut at a NUL byte.
    fn keep(&mut self, text: &str) -> *const c_char {
        let text = text.split('\0').next().unwrap_or_default();
        let copy = CString::new(text).unwrap_or_default();
        let pointer = copy.as_ptr();
        self.0.push(copy);
        pointer
    }

    fn keep_some(&mut self, text: Option<&str>) -> *const c_char {
        text.map_or(std::ptr::null(), |text| self.keep(text))
    }
}

/// Argument arrays that stay where they are until dropped.
#[derive(Default)]
struct Trees(Vec<Pin<Box<[raw::RedisModuleCommandArg]>>>);

impl Trees {
    /// A pointer to the array of `args` and, below it, of theirs; null if there are none.
    fn plant(&mut self, texts: &mut Texts, args: &[Arg]) -> *mut raw::RedisModuleCommandArg {
        if args.is_empty() {
            return std::ptr::null_mut();
        }
        let mut array: Vec<_> = args.iter().map(|arg| self.argument(texts, arg)).collect();
        array.push(zeroed_argument());
        let mut array = Pin::new(array.into_boxed_slice());
        let pointer = array.as_mut_ptr();
        self.0.push(array);
        pointer
    }

    fn argument(&mut self, texts: &mut Texts, arg: &Arg) -> raw::RedisModuleCommandArg {
        let mut flags = 0;
        if arg.optional {
            flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL;
        }
        if arg.multiple {
            flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE;
        }
        raw::RedisModuleCommandArg {
            name: texts.keep(arg.name),
            type_: argument_type(arg.kind),
            key_spec_index: match arg.kind {
                ArgKind::Key(spec) => spec as c_int,
                _ => -1,
            },
            token: texts.keep_some(arg.token),
            since: texts.keep_some(arg.since),
            flags: flags as c_int,
            subargs: self.plant(texts, arg.kind.children()),
            ..zeroed_argument()
        }
    }
}

fn argument_type(kind: ArgKind) -> raw::RedisModuleCommandArgType {
    match kind {
        ArgKind::Key(_) => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY,
        ArgKind::Text => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
        ArgKind::Integer => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
        ArgKind::Double => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE,
        ArgKind::PureToken => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN,
        ArgKind::OneOf(_) => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF,
        ArgKind::Block(_) => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK,
    }
}

fn zeroed_argument() -> raw::RedisModuleCommandArg {
    raw::RedisModuleCommandArg {
        name: std::ptr::null(),
        type_: 0,
        key_spec_index: 0,
        token: std::ptr::null(),
        summary: std::ptr::null(),
        since: std::ptr::null(),
        flags: 0,
        deprecated_since: std::ptr::null(),
        subargs: std::ptr::null_mut(),
        display_text: std::ptr::null(),
    }
}

fn history(texts: &mut Texts, entries: &[(&str, &str)]) -> Vec<raw::RedisModuleCommandHistoryEntry> {
    let mut out: Vec<_> = entries
        .iter()
        .map(|(since, changes)| raw::RedisModuleCommandHistoryEntry {
            since: texts.keep(since),
            changes: texts.keep(changes),
        })
        .collect();
    out.push(raw::RedisModuleCommandHistoryEntry { since: std::ptr::null(), changes: std::ptr::null() });
    out
}

fn key_specs(texts: &mut Texts, specs: &[KeySpec]) -> Vec<raw::RedisModuleCommandKeySpec> {
    let mut out: Vec<_> = specs.iter().map(|spec| key_spec(texts, spec)).collect();
    // SAFETY: all fields are integers and pointers, of which zero is a value.
    out.push(unsafe { std::mem::zeroed() });
    out
}

fn key_spec(texts: &mut Texts, spec: &KeySpec) -> raw::RedisModuleCommandKeySpec {
    // SAFETY: all fields are integers and pointers, of which zero is a value.
    let mut out: raw::RedisModuleCommandKeySpec = unsafe { std::mem::zeroed() };
    out.flags = u64::from(key_spec_flags(spec));
    match spec.begin {
        BeginSearch::Index(pos) => {
            out.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
            out.bs.index = raw::RedisModuleCommandKeySpec__bindgen_ty_1__bindgen_ty_1 { pos };
        }
        BeginSearch::Keyword(keyword, startfrom) => {
            out.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_KEYWORD;
            let keyword = texts.keep(keyword);
            out.bs.keyword =
                raw::RedisModuleCommandKeySpec__bindgen_ty_1__bindgen_ty_2 { keyword, startfrom };
        }
    }
    match spec.find {
        FindKeys::Range { last, step, limit } => {
            out.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
            out.fk.range = raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_1 {
                lastkey: last,
                keystep: step,
                limit,
            };
        }
        FindKeys::Numkeys { numkeys, first, step } => {
            out.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_KEYNUM;
            out.fk.keynum = raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_2 {
                keynumidx: numkeys,
                firstkey: first,
                keystep: step,
            };
        }
    }
    out
}

fn key_spec_flags(spec: &KeySpec) -> u32 {
    let access = match spec.access {
        Access::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
        Access::ReadUpdate => {
            raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE
        }
        Access::Update => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_UPDATE,
        Access::Insert => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_INSERT,
        Access::Delete => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_DELETE,
        Access::Overwrite => raw::REDISMODULE_CMD_KEY_OW | raw::REDISMODULE_CMD_KEY_UPDATE,
        Access::Inspect => raw::REDISMODULE_CMD_KEY_RO,
    };
    match spec.incomplete {
        true => access | raw::REDISMODULE_CMD_KEY_INCOMPLETE,
        false => access,
    }
}
