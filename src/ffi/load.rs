//! The module while it is being loaded: what it makes known to the server.

use std::ffi::c_int;

use redis_module::raw;
use roarbits_spec::Command;

use super::config::{self, NumericConfig};
use super::context::log_line;
use super::data_type::{self, DataType};
use super::events::{self, ServerEvents};
use super::info::{self, InfoSection};
use super::register::{self, Registration};

/// The server while it loads the module.
pub struct Loading {
    raw: *mut raw::RedisModuleCtx,
    args: Vec<Vec<u8>>,
}

impl Loading {
    /// Takes what `redis_module!` hands to an init function.
    pub fn new(context: &redis_module::Context, args: &[redis_module::RedisString]) -> Self {
        Self { raw: context.ctx, args: args.iter().map(|arg| arg.as_slice().to_vec()).collect() }
    }

    /// The load arguments.
    pub fn args(&self) -> &[Vec<u8>] {
        &self.args
    }

    /// Tells the server how the module behaves; options that it does not know it ignores.
    pub fn set_options(&self) {
        // Of Valkey 9.0: slots migrate while their keys are written, as by RESTORE and
        // replication. Without it one such module refuses it to the whole cluster.
        const HANDLE_ATOMIC_SLOT_MIGRATION: u32 = 1 << 5;
        let options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
            | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
            | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
            | HANDLE_ATOMIC_SLOT_MIGRATION;
        // SAFETY: preconditions 1 and 2, during OnLoad.
        unsafe { api!(RedisModule_SetModuleOptions)(self.raw, options as c_int) };
    }

    /// Creates a data type.
    ///
    /// # Errors
    /// The server's refusal, in words.
    pub fn create_type<T: DataType>(&self) -> Result<(), String> {
        match data_type::create::<T>(self.raw) {
            true => Ok(()),
            false => Err(format!("the server refuses the data type {}", T::NAME)),
        }
    }

    /// Registers commands.
    ///
    /// # Errors
    /// A row without a handler, a handler without a row, or the server's refusal, in words.
    pub fn register(&self, rows: &[&'static Command], handlers: &[Registration]) -> Result<(), String> {
        register::register_all(self.raw, rows, handlers)
    }

    /// Makes configs known, where the server has module configs.
    ///
    /// # Errors
    /// The server's refusal, in words.
    pub fn register_configs(&self, configs: &[&'static NumericConfig]) -> Result<(), String> {
        match config::register_all(self.raw, configs) {
            true => Ok(()),
            false => Err("the server refuses the configs, or a value given to one".to_owned()),
        }
    }

    /// Has `write` called whenever INFO is made, in a crash report too: it takes no lock.
    pub fn register_info(&self, write: fn(&InfoSection)) {
        info::register(self.raw, write);
    }

    /// Has `events` called when they happen.
    pub fn on_events(&self, events: ServerEvents) {
        events::subscribe(self.raw, events);
    }

    /// Writes a line to the server's log, level warning.
    pub fn log_warning(&self, line: &str) {
        log_line(self.raw, c"warning", line);
    }
}
