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
