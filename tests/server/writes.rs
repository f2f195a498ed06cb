//! What every write command owes its caller, shown of each by loops over the table:
//! errors that leave everything as it was, creation, and the limit of memory.

use roarbits_tests::spec;
use roarbits_tests::{args, tests, Args, Client, Server, TestList, Value};

use crate::table::{
    at, cases, complete, holds_error, is_repeatable, keys_of, one_call_each, prepare, script_of, text_of,
    written_keys, Case, Memory, Names, OnHll, OnString, Write, BITMAP, READS, WRITES,
};

pub fn tests() -> TestList {
    tests![
        every_command_has_a_case,
        a_wrong_number_of_arguments_is_told_as_natively,
        a_wrong_type_is_one_error_and_nothing_changes,
        a_hyperloglog_is_no_set_of_ids,
        a_missing_key_is_created_by_writes_that_set_and_by_no_read,
        out_of_memory_refuses_what_can_grow_and_nothing_else,
        a_refused_call_writes_none_of_its_keys,
        a_replica_refuses_writes_and_answers_reads,
    ]
}

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
const WRONG_TYPE_STRING: &str = "WRONGTYPE Operation against a key holding the wrong kind of value, \
     a plain string bitmap can only be changed after RB.CONVERT";
const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

fn every_command_has_a_case() {
    complete();
}

fn a_wrong_number_of_arguments_is_told_as_natively() {
    let server = Server::start();
    let mut client = server.client();
    let names = Names::new("arity");
    for row in spec::rows() {
        let arity = row.arity();
        let fewest = arity.unsigned_abs() as usize;
        let mut wrong = vec![fewest - 1];
        if arity > 0 {
            wrong.push(fewest + 1);
        }
        let text = format!("ERR wrong number of arguments for '{}' command", row.name().to_lowercase());
        for count in wrong {
            let mut call: Args = vec![b"5".to_vec(); count];
            call[0] = row.name().as_bytes().to_vec();
            assert_eq!(client.error(&call), text, "{count} arguments");
            assert_eq!(client.cmd(&["ECHO", "own"]), Ok(Value::BulkString(b"own".to_vec())));
        }
    }
    for (name, kind, words) in one_call_each() {
        names.prepare(&mut client, kind);
        assert!(client.cmd(&names.fill(words)).is_ok(), "{name} with a right number");
    }
    let odd = "ERR wrong number of arguments for 'rb.msetbit' command";
    assert_eq!(client.error(&["RB.MSETBIT", "k", "5", "1", "l"]), odd);
    assert_eq!(client.error(&["RB.MSETBIT", "k", "5", "1", "l", "5"]), odd);
    client.ok(&["FLUSHALL"]);
    assert_eq!(client.int(&["DBSIZE"]), 0);
}

fn a_wrong_type_is_one_error_and_nothing_changes() {
    let server = Server::start();
    let mut client = server.client();
    let names = Names::new("type");
    for (name, kind, words) in one_call_each() {
        let call = names.fill(words);
        for used in keys_of(&spec::row(name), &call) {
            if used.has("OW") {
                continue;
            }
            names.prepare(&mut client, kind);
            let key = call[used.position].clone();
            for making in [
                args!["RPUSH", &key, "x"],
                args!["HSET", &key, "f", "v"],
                args!["XADD", &key, "1-1", "f", "v"],
            ] {
                client.ask(&args!["DEL", &key]);
                client.ask(&making);
                assert_refused(&mut client, &call, WRONG_TYPE);
            }
            let is_refused = |write: &&Write| write.name == name && write.on_string == OnString::Refused;
            if used.is_written() && WRITES.iter().any(|write| is_refused(&write)) {
                client.ok(&args!["SET", &key, "abc"]);
                assert_refused(&mut client, &call, WRONG_TYPE_STRING);
            }
        }
    }
}

/// One error, every key as it was, and the next calls of the connection answer themselves.
fn assert_refused(client: &mut Client, call: &Args, text: &str) {
    let before = client.digest_of_all();
    let replies = client.pipeline(&[call.clone(), args!["ECHO", "first"], args!["ECHO", "second"]]);
    let echo = |text: &str| Ok(Value::BulkString(text.as_bytes().to_vec()));
    assert_eq!(replies, [Err(text.to_string()), echo("first"), echo("second")]);
    assert_eq!(client.digest_of_all(), before, "after a refused {}", text_of(&call[0]));
}

fn a_hyperloglog_is_no_set_of_ids() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["PFADD", "hll", "a", "b"]);
    for read in READS {
        let call = at(read.call, "hll");
        match read.on_hll {
            OnHll::Refused => assert_refused(&mut client, &call, WRONG_TYPE),
            OnHll::Read => {
                client.ask(&call);
            }
        }
        client.ok(&["SET", "string", "abc"]);
        let on_string = client.ask(&at(read.call, "string"));
        assert!(!holds_error(&on_string), "{} of a string: {on_string:?}", read.name);
        assert_eq!(client.text(&["GET", "string"]), "abc");
    }
}

fn a_missing_key_is_created_by_writes_that_set_and_by_no_read() {
    let server = Server::start();
    let mut client = server.client();
    for read in READS {
        let outcome = client.cmd(&at(read.call, "nothing"));
        assert!(outcome.is_ok(), "{} of a missing key: {outcome:?}", read.name);
    }
    assert_eq!(client.int(&["DBSIZE"]), 0, "after reads");
    let names = Names::new("missing");
    for write in WRITES {
        for words in write.creates {
            names.prepare_missing(&mut client, write.kind);
            let call = names.fill(words);
            client.ask(&call);
            for key in written_keys(&spec::row(write.name), &call) {
                assert_eq!(client.text(&["TYPE", &key]), write.kind.name, "{key} after {words:?}");
            }
        }
        for words in write.same_on_missing {
            names.prepare_missing(&mut client, write.kind);
            let reply = client.ask(&names.fill(words));
            assert_eq!(reply, Value::Int(0), "{words:?}");
            assert_eq!(client.int(&["EXISTS", &names.key()]), 0, "after {words:?}");
        }
        if write.creates.is_empty() {
            for words in write.changes {
                names.prepare_missing(&mut client, write.kind);
                client.ask(&names.fill(words));
                assert_eq!(client.int(&["EXISTS", &names.key()]), 0, "after {words:?}");
            }
        }
    }
}

fn out_of_memory_refuses_what_can_grow_and_nothing_else() {
    let server = Server::builder().config("maxmemory-policy", "noeviction").start();
    let mut client = server.client();
    let names = Names::new("oom");
    for write in WRITES {
        let row = spec::row(write.name);
        assert_eq!(row.has_flag("deny-oom"), write.memory == Memory::Grows, "deny-oom of {}", write.name);
        for Case { start, words, .. } in cases(write) {
            prepare(&mut client, &names, write.kind, start);
            client.ok(&["CONFIG", "SET", "maxmemory", "1"]);
            let call = names.fill(words);
            match write.memory {
                Memory::Grows => {
                    assert_refused(&mut client, &call, OUT_OF_MEMORY);
                    assert_refused_in_multi_and_script(&mut client, &call);
                }
                Memory::Frees => {
                    client.ask(&call);
                }
            }
            assert_reads_answer(&mut client, &names);
            client.ok(&["CONFIG", "SET", "maxmemory", "0"]);
        }
    }
}

fn assert_refused_in_multi_and_script(client: &mut Client, call: &Args) {
    let before = client.digest_of_all();
    client.ok(&["MULTI"]);
    assert_eq!(client.error(call), OUT_OF_MEMORY);
    assert!(client.error(&["EXEC"]).starts_with("EXECABORT"));
    assert!(client.error(&script_of(call, "redis.call")).contains("OOM"));
    assert_eq!(client.digest_of_all(), before);
}

fn assert_reads_answer(client: &mut Client, names: &Names) {
    for read in READS {
        let outcome = client.cmd(&names.fill(read.call));
        assert!(outcome.is_ok(), "{} when memory is out: {outcome:?}", read.name);
    }
}

fn a_refused_call_writes_none_of_its_keys() {
    let server = Server::start();
    let mut client = server.client();
    client.ok(&["SET", "string", "abc"]);
    client.int(&["RB.ADD", "bitmap", "1"]);
    client.int(&["RPUSH", "list", "x"]);
    let offset = "ERR bit offset is not an integer or out of range";
    let set = |key: &'static str, offset: &'static str| ["RB.MSETBIT", "bitmap", "7", "1", key, offset, "1"];
    let refused = [
        (set("list", "1"), WRONG_TYPE),
        (set("string", "4294967296"), offset),
        (set("string", "007"), offset),
        (set("missing", "18446744073709551616"), offset),
        (
            ["RB.MSETBIT", "bitmap", "7", "1", "missing", "7", "2"],
            "ERR bit is not an integer or out of range",
        ),
    ];
    for (call, text) in refused {
        assert_refused(&mut client, &args_of(&call), text);
    }
    let id = "ERR id is not an integer or out of range";
    assert_refused(&mut client, &args!["RB.ADD", "bitmap", "7", "-1"], id);
    assert_refused(&mut client, &args!["RB.REM", "bitmap", "1", "+2"], id);
    assert_refused(&mut client, &args!["RB.BITOP", "OR", "bitmap", "string", "list"], WRONG_TYPE);
}

fn args_of(words: &[&str]) -> Args {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn a_replica_refuses_writes_and_answers_reads() {
    let primary = Server::builder().config("repl-diskless-sync-delay", "0").start();
    let replica = Server::start();
    let names = Names::new("replica");
    names.prepare(&mut primary.client(), &BITMAP);
    replica.replica_of(&primary);
    let mut client = replica.client();
    let read_only = "READONLY You can't write against a read only replica.";
    for write in WRITES {
        assert_refused(&mut client, &names.fill(write.changes[0]), read_only);
    }
    for read in READS {
        let reply = client.ask(&names.fill(read.call));
        if is_repeatable(&spec::row(read.name)) {
            assert_eq!(reply, primary.client().ask(&names.fill(read.call)), "{}", read.name);
        }
    }
}
