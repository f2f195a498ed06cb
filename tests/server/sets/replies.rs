//! What list commands reply: options, limits, chance, RESP3, Lua.

use roarbits_tests::{args, Args, Client, Outcome, Protocol, Server, Value};

use super::bulk;

fn ids(texts: &[&str]) -> Outcome {
    Ok(Value::Array(texts.iter().map(bulk).collect()))
}

fn call(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

pub fn options_of_range_are_checked_and_obeyed() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["RB.ADD", "k", "10", "20", "30", "40", "18446744073709551615"]);
    let last = "18446744073709551615";
    for (line, expected) in [
        ("1 2", vec!["20", "30"]),
        ("-2 -1", vec!["40", last]),
        ("-100 0", vec!["10"]),
        ("4 100", vec![last]),
        ("3 2", vec![]),
        ("5 9", vec![]),
        ("0 -6", vec![]),
        ("0 1 REV", vec![last, "40"]),
        ("-1 -1 rev", vec!["10"]),
        ("10 20 BYID", vec!["10", "20"]),
        ("11 19 BYID", vec![]),
        ("30 20 BYID", vec![]),
        ("30 20 BYID REV", vec!["30", "20"]),
        ("30 20 REV BYID", vec!["30", "20"]),
        ("20 30 BYID REV", vec![]),
        ("0018 + BYID", vec!["20", "30", "40", last]),
        ("- + BYID LIMIT 1 2", vec!["20", "30"]),
        ("- + LIMIT 1 -1 BYID", vec!["20", "30", "40", last]),
        ("+ - BYID REV LIMIT 1 2", vec!["40", "30"]),
        ("- + BYID LIMIT 0 0", vec![]),
        ("- + BYID LIMIT -1 2", vec![]),
        ("- + BYID LIMIT 5 2", vec![]),
        ("- + BYID LIMIT 9223372036854775807 9223372036854775807", vec![]),
    ] {
        assert_eq!(client.cmd(&call(&format!("RB.RANGE k {line}"))), ids(&expected), "{line}");
        assert_eq!(client.cmd(&call(&format!("RB.RANGE missing {line}"))), ids(&[]), "{line}");
    }
    for (line, error) in [
        ("0 1 LIMIT 0 1", "ERR syntax error, LIMIT is only supported in combination with BYID"),
        ("0 1 BYID LIMIT 0", "ERR syntax error"),
        ("0 1 BYID LIMIT", "ERR syntax error"),
        ("0 1 BYID BYID", "ERR syntax error"),
        ("0 1 REV REV", "ERR syntax error"),
        ("0 1 BYID LIMIT 0 1 LIMIT 0 1", "ERR syntax error"),
        ("0 1 WITHSCORES", "ERR syntax error"),
        ("0 1 BYID LIMIT a 1", "ERR value is not an integer or out of range"),
        ("- +", "ERR value is not an integer or out of range"),
        ("-1 0 BYID", "ERR id is not an integer or out of range"),
        ("(1 5 BYID", "ERR id is not an integer or out of range"),
    ] {
        assert_eq!(client.error(&call(&format!("RB.RANGE k {line}"))), error, "{line}");
        assert_eq!(client.error(&call(&format!("RB.RANGE missing {line}"))), error, "{line}");
    }
}

pub fn a_list_above_max_reply_is_refused_and_limit_and_scan_go_on() {
    let server = Server::builder().module_args(&["max-reply", "5"]).start();
    let mut client = server.client();
    client.int(&["RB.ADD", "k", "1", "2", "3", "4", "5", "6", "7"]);
    for line in [
        "RB.RANGE k 0 -1",
        "RB.RANGE k 0 5 REV",
        "RB.RANGE k - + BYID",
        "RB.RANGE k + - BYID REV LIMIT 0 6",
        "RB.RANDMEMBER k 6",
        "RB.RANDMEMBER k -6",
        "RB.RANDMEMBER k -9223372036854775808",
    ] {
        assert_eq!(client.error(&call(line)), "ERR reply too large, use LIMIT or RB.SCAN", "{line}");
    }
    for (line, number) in [
        ("RB.RANGE k 0 4", 5),
        ("RB.RANGE k 2 -1", 5),
        ("RB.RANGE k - + BYID LIMIT 2 5", 5),
        ("RB.RANDMEMBER k 5", 5),
        ("RB.RANDMEMBER k -5", 5),
    ] {
        assert_eq!(client.texts(&call(line)).len(), number, "{line}");
    }
    // A page is cut, not refused: the cursor goes on from there.
    let (first, rest) = (["1", "2", "3", "4", "5"], ["6", "7"]);
    let page = |cursor: &str, page: &[&str]| {
        Ok(Value::Array(vec![bulk(cursor), Value::Array(page.iter().map(bulk).collect())]))
    };
    assert_eq!(client.cmd(&call("RB.SCAN k 0 COUNT 100")), page("6", &first));
    assert_eq!(client.cmd(&call("RB.SCAN k 6 COUNT 100")), page("0", &rest));
    if !server.flavor().is_before_7() {
        client.ok(&["CONFIG", "SET", "roarbits.max-reply", "7"]);
        assert_eq!(client.texts(&call("RB.RANGE k 0 -1")).len(), 7);
    }
}

/// Ids in three forms, so that ranks cross them: single ids, a run, a dense stretch.
const GROUPS: u64 = 50;
const GROUP_IDS: u64 = 200;

fn fill(client: &mut Client) {
    let quarter = GROUPS * GROUP_IDS / 4;
    add(client, (0..quarter).map(|n| n * 1_000_003));
    client.int(&args!["RB.ADDRANGE", "k", 10_000_000_000u64, 10_000_000_000 + quarter - 1]);
    add(client, (2 * quarter..GROUPS * GROUP_IDS).map(|n| 20_000_000_000 + 2 * n));
}

fn add(client: &mut Client, ids: impl Iterator<Item = u64>) {
    let ids = ids.map(|id| id.to_string().into_bytes());
    client.int(&args!["RB.ADD", "k"].into_iter().chain(ids).collect::<Args>());
}

/// Above this the sum is not what uniform members give, but once in a thousand million
/// runs: Wilson and Hilferty's cube for 6 standard deviations.
fn chi_square_limit(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 6.0 * part.sqrt()).powi(3)
}

fn chi_square(groups: &[u64], expected: f64) -> f64 {
    groups.iter().map(|found| (*found as f64 - expected).powi(2) / expected).sum()
}

pub fn members_at_random_are_different_and_uniform() {
    let server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    let all = client.texts(&["RB.RANGE", "k", "0", "-1"]);
    assert_eq!(all.len() as u64, GROUPS * GROUP_IDS);
    let rank: std::collections::HashMap<&str, u64> =
        all.iter().map(String::as_str).zip(0..GROUPS * GROUP_IDS).collect();
    let ways: [(&str, Vec<Args>); 3] = [
        ("one by one", vec![args!["RB.RANDMEMBER", "k"]; 10_000]),
        ("with repetition", vec![args!["RB.RANDMEMBER", "k", "-2000"]; 10]),
        ("different ones", vec![args!["RB.RANDMEMBER", "k", "40"]; 500]),
    ];
    for (way, calls) in ways {
        let mut groups = vec![0; GROUPS as usize];
        let mut drawn = 0;
        for reply in calls.chunks(100).flat_map(|part| client.pipeline(part)).collect::<Vec<_>>() {
            let members = match reply {
                Ok(Value::Array(members)) => members,
                Ok(member) => vec![member],
                Err(error) => panic!("{way}: {error}"),
            };
            for member in members {
                let Value::BulkString(text) = member else { panic!("{way}: {member:?}") };
                let known = rank.get(String::from_utf8_lossy(&text).as_ref());
                let rank = known.unwrap_or_else(|| panic!("{way}: {text:?} is no member"));
                groups[(rank / GROUP_IDS) as usize] += 1;
                drawn += 1;
            }
        }
        // Draws without repetition vary less than the limit supposes.
        let (sum, limit) = (chi_square(&groups, drawn as f64 / GROUPS as f64), chi_square_limit(49.0));
        assert!(sum < limit, "{way}: {sum} of {limit}, {groups:?}");
    }
    for (count, number) in [(0, 0), (1, 1), (9_999, 9_999), (10_000, 10_000), (1_000_000, 10_000)] {
        let mut members = client.texts(&args!["RB.RANDMEMBER", "k", count as u64]);
        assert_eq!(members.len(), number, "{count}");
        members.sort_unstable();
        members.dedup();
        assert_eq!(members.len(), number, "{count} different ones");
        assert!(members.iter().all(|member| rank.contains_key(member.as_str())));
    }
    assert_eq!(client.texts(&["RB.RANDMEMBER", "k", "-25000"]).len(), 25_000);
}

pub fn counts_and_maps_have_their_resp3_forms() {
    let server = Server::start();
    let big_numbers = !server.flavor().is_before_7();
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let mut client = Client::connect(server.port(), protocol);
        client.ok(&["FLUSHALL"]);
        client.ask(&["RB.ADDRANGE", "full", "-", "+"]);
        client.int(&["RB.ADD", "one", "18446744073709551615"]);
        let big = |text: &str| match protocol {
            Protocol::Resp3 if big_numbers => Value::BigNumber(text.as_bytes().to_vec()),
            _ => bulk(text),
        };
        for (line, expected) in [
            ("RB.COUNT full", big("18446744073709551616")),
            ("RB.BITCOUNT full", big("18446744073709551616")),
            ("RB.COUNT full 0 9223372036854775807", big("9223372036854775808")),
            ("RB.COUNT full 1 9223372036854775807", Value::Int(i64::MAX)),
            ("RB.BITPOS one 1", big("18446744073709551615")),
            ("RB.RANK full 18446744073709551615", big("18446744073709551615")),
            ("RB.MIN one", bulk("18446744073709551615")),
            ("RB.SELECT one 0", bulk("18446744073709551615")),
            ("RB.MIN missing", Value::Nil),
            ("RB.RANK one 5", Value::Nil),
            ("RB.SELECT one 1", Value::Nil),
            ("RB.INFO missing", Value::Nil),
            ("RB.EXPORT missing", Value::Nil),
            ("RB.RANDMEMBER missing", Value::Nil),
            ("RB.RANGE one 0 -1", Value::Array(vec![bulk("18446744073709551615")])),
            ("RB.RANGE missing 0 -1", Value::Array(vec![])),
            ("RB.RANDMEMBER one 2", Value::Array(vec![bulk("18446744073709551615")])),
            (
                "RB.SCAN one 0",
                Value::Array(vec![bulk("0"), Value::Array(vec![bulk("18446744073709551615")])]),
            ),
            ("RB.GETBITS one 0 18446744073709551615", Value::Array(vec![Value::Int(0), Value::Int(1)])),
        ] {
            assert_eq!(client.cmd(&call(line)), Ok(expected), "{line} in {protocol:?}");
        }
        let cardinality = big("18446744073709551616");
        let info = client.ask(&["RB.INFO", "full"]);
        match (protocol, info) {
            (Protocol::Resp3, Value::Map(fields)) if big_numbers => {
                assert_eq!(fields.len(), 12);
                assert!(fields.contains(&(bulk("cardinality"), cardinality)), "{fields:?}");
            }
            (_, Value::Array(fields)) => {
                assert_eq!(fields.len(), 24);
                assert_eq!(fields[..4], [bulk("type"), bulk("rb-bitmap"), bulk("cardinality"), cardinality]);
            }
            (_, other) => panic!("RB.INFO in {protocol:?}: {other:?}"),
        }
    }
}

pub fn ids_stay_exact_in_lua() {
    let server = Server::start();
    let mut client = server.client();
    let ids = ["9007199254740993", "7301234567890123457", "18446744073709551615"];
    let script = "redis.call('RB.ADD', KEYS[1], unpack(ARGV)) \
        local texts = {} \
        for i, id in ipairs(redis.call('RB.RANGE', KEYS[1], 0, -1)) do \
          if type(id) ~= 'string' then return redis.error_reply('ids are ' .. type(id)) end \
          if redis.call('RB.GETBIT', KEYS[1], id) ~= 1 then return redis.error_reply('lost ' .. id) end \
          if redis.call('RB.RANK', KEYS[1], id) ~= i - 1 then return redis.error_reply('moved ' .. id) end \
          texts[i] = id \
        end \
        return texts";
    assert_eq!(client.texts(&["EVAL", script, "1", "k", ids[0], ids[1], ids[2]]), ids);
    for (body, expected) in [
        ("redis.call('RB.MAX', KEYS[1])", ids[2]),
        ("redis.call('RB.SELECT', KEYS[1], 0)", ids[0]),
        ("redis.call('RB.SCAN', KEYS[1], ARGV[1], 'COUNT', 1)[1]", ids[1]),
        ("redis.call('RB.BITPOS', KEYS[1], 1, -1)", "18446744073709551615"),
        ("redis.call('RB.FLIPRANGE', KEYS[1], '-', '+')", "18446744073709551613"),
        ("redis.call('RB.COUNT', KEYS[1])", "18446744073709551613"),
    ] {
        assert_eq!(client.text(&["EVAL", &format!("return {body}"), "1", "k", ids[0]]), expected, "{body}");
    }
}
