//! Random expressions over random keys against exact sets, on workers and in place.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::Rng;
use roarbits_tests::{args, random, Args, Client, Outcome, Server, Value};

use super::sets::{a_border, Function, Ids, Node, SNOWFLAKE};

/// Expressions at each of both places, unless `ROARBITS_EXPRESSIONS` says otherwise.
const EXPRESSIONS: usize = 1_000;
/// After so many the keys are others.
const EXPRESSIONS_A_WORLD: usize = 100;
/// Ids of a list compared at most.
const PAGE: usize = 300;

/// Keys and what they hold.
struct World {
    keys: Vec<(String, Ids)>,
}

fn scattered(random: &mut StdRng, count: usize, within: u64, first: u64) -> Vec<(u64, u64)> {
    (0..count).map(|_| first + random.random_range(0..within)).map(|id| (id, id)).collect()
}

/// Spans of one shape, some of them where other keys have some too.
fn shape(random: &mut StdRng, nth: usize) -> Vec<(u64, u64)> {
    match nth % 6 {
        0 if nth == 0 => scattered(random, 6_000, 40_000, 0),
        0 => scattered(random, 100, 40_000, 0),
        1 => scattered(random, 300, 40_000, 0),
        2 => scattered(random, 500, 1 << 36, SNOWFLAKE),
        3 => (0..40)
            .map(|_| (a_border(random), 1u64 << random.random_range(0..50)))
            .map(|(start, len)| (start, start.saturating_add(len)))
            .collect(),
        4 => {
            let mut spans = scattered(random, 200, 1 << 40, 0);
            spans.extend(scattered(random, 200, 400_000, 0));
            spans
        }
        _ => scattered(random, 3, 100, 65_500),
    }
}

impl World {
    /// Eleven keys of all shapes, two of them strings, and one that is missing.
    fn make(client: &mut Client, random: &mut StdRng) -> World {
        client.ok(&["FLUSHALL"]);
        let mut keys: Vec<(String, Ids)> = Vec::new();
        for nth in 0..9 {
            let mut spans = shape(random, nth);
            if let Some((_, other)) = keys.choose(random) {
                spans.extend(other.spans().iter().filter(|_| random.random_bool(0.3)).take(200));
            }
            let (name, ids) = (format!("k{nth}"), Ids::of_spans(spans));
            fill(client, &name, &ids);
            keys.push((name, ids));
        }
        for (name, len) in [("string", 400), ("short", 3)] {
            let bytes: Vec<u8> = (0..len).map(|_| random.random::<u8>() & random.random::<u8>()).collect();
            client.ok(&args!["SET", name, &bytes]);
            keys.push((name.to_string(), Ids::of_string(&bytes)));
        }
        keys.push(("missing".to_string(), Ids::default()));
        World { keys }
    }
}

/// Writes the ids to a key, spans as spans.
fn fill(client: &mut Client, key: &str, ids: &Ids) {
    let calls: Vec<Args> = ids.spans().iter().map(|(a, b)| args!["RB.ADDRANGE", key, *a, *b]).collect();
    for batch in calls.chunks(2_000) {
        assert!(client.pipeline(batch).iter().all(Result::is_ok));
    }
}

/// A count as it is replied at any size.
fn count(outcome: &Outcome) -> Option<u128> {
    match outcome {
        Ok(Value::Int(count)) => u128::try_from(*count).ok(),
        Ok(Value::BulkString(digits)) => String::from_utf8_lossy(digits).parse().ok(),
        _ => None,
    }
}

fn ids_reply(ids: &[u64]) -> Outcome {
    Ok(Value::Array(ids.iter().map(|id| Value::BulkString(id.to_string().into_bytes())).collect()))
}

/// What a call is to reply.
enum Expected {
    Count(u128),
    Reply(Outcome),
}

/// One expression with everything that is asked of it.
struct Round {
    calls: Vec<(Args, Expected)>,
}

impl Round {
    fn expect(&mut self, call: Args, expected: Expected) {
        self.calls.push((call, expected));
    }

    fn of(world: &World, random: &mut StdRng) -> Round {
        let chosen: Vec<&(String, Ids)> =
            (0..random.random_range(1..7)).filter_map(|_| world.keys.choose(random)).collect();
        let sets: Vec<&Ids> = chosen.iter().map(|(_, ids)| ids).collect();
        let node = Node::random(random, sets.len(), 3);
        let kept = node.solve(&sets);
        let mut round = Round { calls: Vec::new() };
        let mut of_keys = args![chosen.len()];
        of_keys.extend(chosen.iter().map(|(name, _)| name.clone().into_bytes()));
        of_keys.push(node.text(random).into_bytes());
        let ask = |rest: Args| [args!["RB.EXPR"], of_keys.clone(), rest].concat();
        let word = if random.random_bool(0.5) { args!["COUNT"] } else { args![] };
        round.expect(ask(word), Expected::Count(kept.count()));
        round.ask_for_ids(&kept, &ask, random);
        let ids: Vec<u64> = (0..8).map(|_| near(&kept, &sets, random)).collect();
        let bits = ids.iter().map(|id| Value::Int(kept.has(*id).into())).collect();
        let mut test = args!["TEST"];
        test.extend(ids.iter().map(|id| id.to_string().into_bytes()));
        round.expect(ask(test), Expected::Reply(Ok(Value::Array(bits))));
        round.store(&kept, &of_keys, random);
        round.combine(&chosen, &sets, random);
        round
    }

    fn ask_for_ids(&mut self, kept: &Ids, ask: &impl Fn(Args) -> Args, random: &mut StdRng) {
        let after = random.random_bool(0.5).then(|| match kept.spans().choose(random) {
            Some((start, end)) if random.random_bool(0.7) => random.random_range(*start..=*end),
            _ => a_border(random),
        });
        let (offset, limit) =
            (random.random_range(0..20) * random.random_range(0..20), random.random_range(0..PAGE));
        let mut rest = args!["IDS"];
        rest.extend(after.iter().flat_map(|id| args!["AFTER", *id]));
        rest.extend(args!["LIMIT", offset, limit]);
        self.expect(ask(rest), Expected::Reply(ids_reply(&kept.page(after, offset, limit))));
        if kept.count() <= PAGE as u128 {
            self.expect(ask(args!["IDS"]), Expected::Reply(ids_reply(&kept.page(None, 0, PAGE))));
        }
    }

    fn store(&mut self, kept: &Ids, of_keys: &Args, random: &mut StdRng) {
        let total = kept.count();
        self.expect([args!["RB.EXPRSTORE", "stored"], of_keys.clone()].concat(), Expected::Count(total));
        self.expect(args!["EXISTS", "stored"], Expected::Count(u128::from(total > 0)));
        self.expect(args!["RB.COUNT", "stored"], Expected::Count(total));
        let first = kept.page(None, 0, PAGE);
        let call = args!["RB.RANGE", "stored", "-", "+", "BYID", "LIMIT", 0, PAGE];
        self.expect(call, Expected::Reply(ids_reply(&first)));
        let spans = kept.spans();
        for (start, end) in (0..3).filter_map(|_| spans.choose(random)) {
            let inside = u128::from(end - start) + 1;
            self.expect(args!["RB.COUNT", "stored", *start, *end], Expected::Count(inside));
        }
        self.expect(args!["RB.EXPR", 1, "stored", "$1"], Expected::Count(total));
    }

    fn combine(&mut self, chosen: &[&(String, Ids)], sets: &[&Ids], random: &mut StdRng) {
        let every = (0..sets.len()).map(Node::Key);
        let rest = || Node::Call(Function::Any, (1..sets.len()).map(Node::Key).collect());
        let pair = |operator, a, b| Node::Pair(operator, Box::new(a), Box::new(b));
        let mut operations = vec![
            ("AND", Node::Call(Function::All, every.clone().collect())),
            ("OR", Node::Call(Function::Any, every.clone().collect())),
            ("XOR", Node::Call(Function::Xor, every.clone().collect())),
            ("ONE", Node::Call(Function::Exactly(1), every.collect())),
        ];
        if sets.len() > 1 {
            operations.push(("DIFF", pair('-', Node::Key(0), rest())));
            operations.push(("DIFF1", pair('-', rest(), Node::Key(0))));
            operations.push(("ANDOR", pair('&', Node::Key(0), rest())));
        }
        let Some((operation, node)) = operations.choose(random) else { return };
        let mut call = args!["RB.BITOPCARD", *operation];
        call.extend(chosen.iter().map(|(name, _)| name.clone().into_bytes()));
        self.expect(call, Expected::Count(node.solve(sets).count()));
        let (a, b) = (chosen[0], chosen[chosen.len() - 1]);
        let call = args!["RB.COMPARE", &a.0, &b.0];
        self.expect(call, Expected::Reply(Ok(comparison(&a.1, &b.1))));
    }
}

/// An id at or near a border of what is kept or asked about.
fn near(kept: &Ids, sets: &[&Ids], random: &mut StdRng) -> u64 {
    let of = if random.random_bool(0.5) { Some(&kept) } else { sets.choose(random) };
    match of.and_then(|ids| ids.spans().choose(random)) {
        Some((start, end)) => match random.random_range(0..4) {
            0 => *start,
            1 => *end,
            2 => start.saturating_sub(1),
            _ => end.saturating_add(1),
        },
        None => a_border(random),
    }
}

/// The map that RB.COMPARE replies, in RESP2.
pub fn comparison(a: &Ids, b: &Ids) -> Value {
    let inter = Node::Pair('&', Box::new(Node::Key(0)), Box::new(Node::Key(1))).solve(&[a, b]).count();
    let (a, b) = (a.count(), b.count());
    let union = a + b - inter;
    let relation = if (inter, inter) == (a, b) {
        "equal"
    } else if inter == 0 {
        "disjoint"
    } else if inter == a {
        "subset"
    } else if inter == b {
        "superset"
    } else {
        "overlap"
    };
    let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
    let counts = [a, b, union, inter, a - inter, b - inter];
    let names = ["a", "b", "union", "inter", "a_only", "b_only"];
    let mut map = Vec::new();
    for (name, count) in names.into_iter().zip(counts) {
        map.push(bulk(name));
        map.push(i64::try_from(count).map_or_else(|_| bulk(&count.to_string()), Value::Int));
    }
    let root = (a as f64 * b as f64).sqrt();
    for (name, divisor) in [("jaccard", union as f64), ("overlap", a.min(b) as f64), ("cosine", root)] {
        map.push(bulk(name));
        map.push(if divisor > 0.0 { bulk(&as_replied(inter as f64 / divisor)) } else { Value::Nil });
    }
    map.extend([bulk("relation"), bulk(relation)]);
    Value::Array(map)
}

/// A double as it stands for one that a reply holds: compared as a number.
fn as_replied(number: f64) -> String {
    format!("{number:?}")
}

/// The same reply, with numbers that are no integers compared as numbers.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(a, b))
        }
        (Value::BulkString(a), Value::BulkString(b)) if a != b => {
            let number = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<f64>().ok();
            let has_point = b.contains(&b'.') || b.contains(&b'e');
            has_point && number(a).is_some() && number(a) == number(b)
        }
        _ => found == expected,
    }
}

fn assert_round(client: &mut Client, round: &Round) {
    let calls: Vec<Args> = round.calls.iter().map(|(call, _)| call.clone()).collect();
    for ((call, expected), found) in round.calls.iter().zip(client.pipeline(&calls)) {
        let words = || call.iter().map(|arg| String::from_utf8_lossy(arg)).collect::<Vec<_>>().join(" ");
        match expected {
            Expected::Count(wanted) => assert_eq!(count(&found), Some(*wanted), "{}: {found:?}", words()),
            Expected::Reply(Ok(wanted)) => {
                let is_same = found.as_ref().is_ok_and(|found| same(found, wanted));
                assert!(is_same, "{}:\n   {found:?},\n not {wanted:?}", words());
            }
            Expected::Reply(refused) => assert_eq!(&found, refused, "{}", words()),
        }
    }
}

fn agree_at(budget_us: &str, seed: &str) -> (u64, u64) {
    let server = Server::builder().module_args(&["inline-budget", budget_us, "worker-threads", "2"]).start();
    let mut client = server.client();
    let mut random = random::seeded(seed);
    let expressions = random::count("ROARBITS_EXPRESSIONS", EXPRESSIONS);
    let mut world = World::make(&mut client, &mut random);
    for nth in 1..=expressions {
        assert_round(&mut client, &Round::of(&world, &mut random));
        if nth % EXPRESSIONS_A_WORLD == 0 {
            world = World::make(&mut client, &mut random);
        }
    }
    let figure = |client: &mut Client, name: &str| client.info_number("roarbits", name);
    (figure(&mut client, "roarbits_offloaded"), figure(&mut client, "roarbits_inline"))
}

pub fn expressions_on_workers_agree_with_exact_sets() {
    let (offloaded, _) = agree_at("0", "questions::expressions_on_workers_agree_with_exact_sets");
    assert!(offloaded as usize > random::count("ROARBITS_EXPRESSIONS", EXPRESSIONS), "{offloaded} offloaded");
}

pub fn expressions_in_place_agree_with_exact_sets() {
    let (offloaded, inline) = agree_at("1000000000", "questions::expressions_in_place_agree_with_exact_sets");
    assert_eq!(offloaded, 0);
    assert!(inline as usize > random::count("ROARBITS_EXPRESSIONS", EXPRESSIONS), "{inline} in place");
}
