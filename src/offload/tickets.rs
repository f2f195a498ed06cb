//! The calls that workers have in hand, and what ends them early.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roarbits_core::Watch;

use super::figures::{add, CANCELLED};
use super::Effect;
use crate::ffi::{ClientToken, Refusal};

static LIVE: Mutex<Option<HashMap<ClientToken, Arc<Ticket>>>> = Mutex::new(None);

/// What ends a call before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its client is gone; nobody reads the reply.
    ClientGone = 1,
    /// Its database was flushed or swapped, or a new data set was loaded.
    DatasetReplaced,
    /// The server became a replica.
    Demoted,
    /// The server shuts down.
    Shutdown,
}

/// A call that a worker has, or will have, in hand.
#[derive(Debug)]
pub struct Ticket {
    watch: Watch,
    database: i32,
    effect: Effect,
    /// An `End`, or 0.
    end: AtomicU8,
}

impl Ticket {
    /// What the work looks at now and then.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Whether something has ended the call.
    pub fn has_ended(&self) -> bool {
        self.end.load(Ordering::Acquire) != 0
    }

    /// What the client is told of an end.
    pub fn refusal(&self) -> Refusal {
        match self.end.load(Ordering::Acquire) {
            end if end == End::DatasetReplaced as u8 => {
                Refusal::new("TRYAGAIN roarbits: the dataset was replaced")
            }
            end if end == End::Demoted as u8 => {
                Refusal::new("TRYAGAIN roarbits: this server became a replica")
            }
            end if end == End::Shutdown as u8 => Refusal::new("TRYAGAIN roarbits: the server shuts down"),
            _ => Refusal::INTERNAL,
        }
    }

    fn end(&self, end: End) {
        if self.end.compare_exchange(0, end as u8, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            add(&CANCELLED, 1);
            self.watch.cancel();
        }
    }
}

/// A ticket in hand: dropped when the call is over, also if its client went away.
#[derive(Debug)]
pub struct Issued {
    client: ClientToken,
    ticket: Arc<Ticket>,
}

impl Deref for Issued {
    type Target = Ticket;

    fn deref(&self) -> &Ticket {
        &self.ticket
    }
}

impl Drop for Issued {
    fn drop(&mut self) {
        live().get_or_insert_default().remove(&self.client);
    }
}

/// A ticket for a call of a client that was just blocked.
pub fn issue(client: ClientToken, database: i32, effect: Effect) -> Issued {
    let ticket = Arc::new(Ticket { watch: Watch::new(), database, effect, end: AtomicU8::new(0) });
    live().get_or_insert_default().insert(client, Arc::clone(&ticket));
    Issued { client, ticket }
}

/// Ends the call of a client that is gone.
pub fn cancel_client(client: ClientToken) {
    end_where(End::ClientGone, |token, _| *token == client);
}

/// Ends every call in `database`.
pub fn cancel_database(database: i32) {
    end_where(End::DatasetReplaced, |_, ticket| ticket.database == database);
}

/// Ends every call.
pub fn cancel_all(end: End) {
    end_where(end, |_, _| true);
}

/// Ends every call that writes.
pub fn cancel_writes(end: End) {
    end_where(end, |_, ticket| ticket.effect == Effect::Writes);
}

fn end_where(end: End, is_meant: impl Fn(&ClientToken, &Ticket) -> bool) {
    let live = live();
    let meant = live.iter().flatten().filter(|(token, ticket)| is_meant(token, ticket));
    meant.for_each(|(_, ticket)| ticket.end(end));
}

fn live() -> MutexGuard<'static, Option<HashMap<ClientToken, Arc<Ticket>>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
