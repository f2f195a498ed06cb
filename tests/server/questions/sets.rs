//! Sets of ids as exact, sorted spans, and expressions over them, evaluated by asking of
//! every stretch between two borders whether its first id is kept. It shares nothing with
//! the module: no trees, no plans, no counters.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::Rng;

/// Ids as closed spans, ascending, none touching the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ids(Vec<(u64, u64)>);

impl Ids {
    /// The ids of spans in any order, which may overlap.
    pub fn of_spans(mut spans: Vec<(u64, u64)>) -> Ids {
        spans.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some(last) if start <= last.1.saturating_add(1) => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        Ids(merged)
    }

    /// The bits of a string, its first byte's highest bit being id 0.
    pub fn of_string(bytes: &[u8]) -> Ids {
        let is_set = |id: &u64| bytes[(*id / 8) as usize] & (128 >> (*id % 8)) != 0;
        Ids::of_spans((0..bytes.len() as u64 * 8).filter(is_set).map(|id| (id, id)).collect())
    }

    /// The spans.
    pub fn spans(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// How many ids.
    pub fn count(&self) -> u128 {
        self.0.iter().map(|(start, end)| u128::from(end - start) + 1).sum()
    }

    /// Whether an id is one of them.
    pub fn has(&self, id: u64) -> bool {
        let at = self.0.partition_point(|(_, end)| *end < id);
        self.0.get(at).is_some_and(|(start, _)| *start <= id)
    }

    /// `limit` ids ascending, behind `after` and `offset` more.
    pub fn page(&self, after: Option<u64>, offset: u64, limit: usize) -> Vec<u64> {
        let first = match after {
            None => 0,
            Some(u64::MAX) => return Vec::new(),
            Some(id) => id + 1,
        };
        let mut skip = u128::from(offset);
        let mut page = Vec::new();
        for (start, end) in self.0.iter().filter(|(_, end)| *end >= first) {
            let start = (*start).max(first);
            let len = u128::from(end - start) + 1;
            if skip >= len {
                skip -= len;
                continue;
            }
            page.extend((start + skip as u64..=*end).take(limit - page.len()));
            skip = 0;
            if page.len() == limit {
                break;
            }
        }
        page
    }
}

/// An expression.
#[derive(Debug, Clone)]
pub enum Node {
    /// A key, by its place among the keys of the call from 0 on.
    Key(usize),
    /// `range(a, b)`.
    Range(u64, u64),
    /// `-`, `&`, `^` or `|` of two.
    Pair(char, Box<Node>, Box<Node>),
    /// A function over operands; with no operands over `*`.
    Call(Function, Vec<Node>),
}

/// What a function keeps, with its k.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// In any.
    Any,
    /// In all.
    All,
    /// In an odd number.
    Xor,
    /// In k or more.
    AtLeast(usize),
    /// In k.
    Exactly(usize),
    /// In k consecutive ones.
    Streak(usize),
}

impl Function {
    fn keeps(self, members: &[bool]) -> bool {
        let count = members.iter().filter(|member| **member).count();
        match self {
            Function::Any => count > 0,
            Function::All => count == members.len(),
            Function::Xor => count % 2 == 1,
            Function::AtLeast(k) => count >= k,
            Function::Exactly(k) => count == k,
            Function::Streak(k) => members.windows(k).any(|window| window.iter().all(|member| *member)),
        }
    }

    fn words(self) -> (&'static str, Option<usize>) {
        match self {
            Function::Any => ("any", None),
            Function::All => ("all", None),
            Function::Xor => ("xor", None),
            Function::AtLeast(k) => ("atleast", Some(k)),
            Function::Exactly(k) => ("exactly", Some(k)),
            Function::Streak(k) => ("streak", Some(k)),
        }
    }
}

/// From the loosest to the tightest.
const OPERATORS: [char; 4] = ['|', '^', '&', '-'];

impl Node {
    /// Whether an id is kept that is in the keys so.
    fn keeps(&self, id: u64, members: &[bool]) -> bool {
        match self {
            Node::Key(key) => members[*key],
            Node::Range(start, end) => (*start..=*end).contains(&id),
            Node::Pair(operator, left, right) => {
                let (left, right) = (left.keeps(id, members), right.keeps(id, members));
                match operator {
                    '-' => left && !right,
                    '&' => left && right,
                    '^' => left != right,
                    _ => left || right,
                }
            }
            Node::Call(function, operands) if operands.is_empty() => function.keeps(members),
            Node::Call(function, operands) => {
                let kept: Vec<bool> = operands.iter().map(|node| node.keeps(id, members)).collect();
                function.keeps(&kept)
            }
        }
    }

    fn borders(&self, borders: &mut Vec<u64>) {
        match self {
            Node::Key(_) => {}
            Node::Range(start, end) => {
                borders.push(*start);
                borders.extend(end.checked_add(1));
            }
            Node::Pair(_, left, right) => [left, right].iter().for_each(|node| node.borders(borders)),
            Node::Call(_, operands) => operands.iter().for_each(|node| node.borders(borders)),
        }
    }

    /// The ids that it keeps.
    pub fn solve(&self, keys: &[&Ids]) -> Ids {
        let mut borders = vec![0];
        self.borders(&mut borders);
        for (start, end) in keys.iter().flat_map(|key| key.spans()) {
            borders.push(*start);
            borders.extend(end.checked_add(1));
        }
        borders.sort_unstable();
        borders.dedup();
        let mut cursors = vec![0; keys.len()];
        let mut spans = Vec::new();
        for (nth, first) in borders.iter().enumerate() {
            let last = borders.get(nth + 1).map_or(u64::MAX, |next| next - 1);
            let members = keys.iter().zip(&mut cursors).map(|(key, at)| {
                let spans = key.spans();
                while spans.get(*at).is_some_and(|(_, end)| end < first) {
                    *at += 1;
                }
                spans.get(*at).is_some_and(|(start, _)| start <= first)
            });
            if self.keeps(*first, &members.collect::<Vec<bool>>()) {
                spans.push((*first, last));
            }
        }
        Ids::of_spans(spans)
    }

    /// How tightly it binds: an index of `OPERATORS`, or beyond.
    fn rank(&self) -> usize {
        match self {
            Node::Pair(operator, ..) => OPERATORS.iter().position(|known| known == operator).unwrap_or(0),
            _ => OPERATORS.len(),
        }
    }

    /// As typed, with no parentheses but those it needs and now and then some more.
    pub fn text(&self, random: &mut StdRng) -> String {
        let blank = |random: &mut StdRng| if random.random_bool(0.5) { " " } else { "" };
        match self {
            Node::Key(key) => format!("${}", key + 1),
            Node::Range(start, end) => format!("range({start},{}{end})", blank(random)),
            Node::Pair(operator, left, right) => {
                let left = left.within(random, self.rank());
                let right = right.within(random, self.rank() + 1);
                format!("{left}{}{operator}{}{right}", blank(random), blank(random))
            }
            Node::Call(function, operands) => {
                let (word, k) = function.words();
                let word = if random.random_bool(0.1) { word.to_uppercase() } else { word.to_string() };
                let mut list: Vec<String> = k.iter().map(usize::to_string).collect();
                list.extend(operands.iter().map(|node| node.text(random)));
                if operands.is_empty() {
                    list.push("*".to_string());
                }
                format!("{word}({})", list.join(if random.random_bool(0.5) { "," } else { ", " }))
            }
        }
    }

    fn within(&self, random: &mut StdRng, least_rank: usize) -> String {
        let text = self.text(random);
        match self.rank() < least_rank || random.random_bool(0.1) {
            true => format!("({text})"),
            false => text,
        }
    }

    /// A random one over so many keys.
    pub fn random(random: &mut StdRng, keys: usize, depth: usize) -> Node {
        let kind = if depth == 0 { random.random_range(0..10) } else { random.random_range(0..24) };
        match kind {
            0..=8 => Node::Key(random.random_range(0..keys)),
            9 => {
                let (start, span) = (a_border(random), 1u64 << random.random_range(0..64));
                Node::Range(start, start.saturating_add(span))
            }
            10..=17 => {
                let operator = OPERATORS.choose(random).copied().unwrap_or('|');
                let mut side = || Box::new(Node::random(random, keys, depth - 1));
                Node::Pair(operator, side(), side())
            }
            _ => Node::random_call(random, keys, depth),
        }
    }

    fn random_call(random: &mut StdRng, keys: usize, depth: usize) -> Node {
        let operands: Vec<Node> = match random.random_range(0..4) {
            0 => Vec::new(),
            _ => (0..random.random_range(1..5)).map(|_| Node::random(random, keys, depth - 1)).collect(),
        };
        let count = if operands.is_empty() { keys } else { operands.len() };
        let k = random.random_range(1..=count + 1);
        let function = match random.random_range(0..6) {
            0 => Function::Any,
            1 => Function::All,
            2 => Function::Xor,
            3 => Function::AtLeast(k),
            4 => Function::Exactly(k),
            _ => Function::Streak(k),
        };
        Node::Call(function, operands)
    }
}

/// An id near which something may begin or end.
pub fn a_border(random: &mut StdRng) -> u64 {
    match random.random_range(0..6) {
        0 => random.random_range(0..40_000),
        1 => random.random_range(0..8) << 16,
        2 => 1 << random.random_range(0..64),
        3 => SNOWFLAKE + random.random_range(0..1u64 << 36),
        4 => u64::MAX - random.random_range(0..1000),
        _ => random.random(),
    }
}

/// The first id of a Snowflake's size.
pub const SNOWFLAKE: u64 = 1_700_000_000_000 << 22;
