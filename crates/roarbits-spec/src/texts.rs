//! Errors that several rows have in common: the text a client gets, and when.

/// An error of a row: the text, and when a call gets it.
pub(crate) type Error = (&'static str, &'static str);

pub(crate) const OFFSET: Error = (
    "ERR bit offset is not an integer or out of range",
    "an offset is not a decimal from 0 to 18446744073709551615",
);

pub(crate) const BIT: Error = ("ERR bit is not an integer or out of range", "a value is not 0 or 1");

pub(crate) const STRING_OFFSET: Error = (
    "ERR bit offset is not an integer or out of range",
    "the key is a plain string and the offset is past the limit of SETBIT; leading zeros are refused there too",
);

pub(crate) const ID: Error =
    ("ERR id is not an integer or out of range", "an id is not a decimal from 0 to 18446744073709551615");

pub(crate) const NUMBER: Error = (
    "ERR value is not an integer or out of range",
    "a number other than an id is not one, or is out of its range",
);

pub(crate) const SYNTAX: Error =
    ("ERR syntax error", "an option is unknown, repeated, incomplete or one too many");

pub(crate) const TOO_LARGE: Error = (
    "ERR reply too large, use LIMIT or RB.SCAN",
    "the reply would hold more ids than the config `max-reply` allows",
);

pub(crate) const NUMKEYS: Error =
    ("ERR numkeys should be greater than 0", "the number of keys is 0, negative or not a number");

pub(crate) const MORE_KEYS_THAN_ARGUMENTS: Error =
    ("ERR Number of keys can't be greater than number of args", "fewer keys follow than the number says");

pub(crate) const TOO_MANY_KEYS: Error =
    ("ERR too many keys (2000, limit 1024)", "the number of keys is above 1024; both figures are told");

pub(crate) const BUSY: Error = (
    "RBBUSY worker queue is full, retry",
    "as many calls as `worker-queue` allows wait for a worker already",
);

pub(crate) const MEMORY: Error = (
    "RBBUSY offload memory is full, retry",
    "copies and results of calls off the main thread take more than `offload-memory`",
);

pub(crate) const TOO_LARGE_IN_PLACE: Error = (
    "RBBUSY too large inside MULTI or a script, run it outside",
    "a client that cannot wait asks for more than `inline-hard-limit` allows",
);

pub(crate) const REPLACED: Error = (
    "TRYAGAIN roarbits: the dataset was replaced",
    "the database was flushed or swapped while a worker had the call in hand",
);

pub(crate) const PAUSED: Error = (
    "TRYAGAIN roarbits: writes are paused, retry",
    "CLIENT PAUSE or a failover paused writes while a worker had the call in hand",
);

pub(crate) const STRINGS: Error = (
    "ERR plain strings of more than 16777216 bytes in all (string-copy-max), turn them into bitmaps with RB.CONVERT",
    "the plain strings among the keys are larger than may be copied for a worker",
);

pub(crate) const EXPRESSION: Error = (
    "ERR expression: expected an operand at position 7",
    "the expression is not one; the text names what is wrong and where, counted from 1",
);
