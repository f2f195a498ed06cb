//! Binds an expression to bitmaps and folds it: what can keep nothing is left out, gates in gates of
//! their kind become one, thresholds that every or any operand fulfils become `&` or `|`.

use std::collections::{HashMap, HashSet};

use super::parse::Term;
use crate::bitmap::{BitRead, Bitmap, Combination, Gate};

/// A folded part of an expression, bound to operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    /// Keeps nothing.
    Empty,
    /// All of an operand, which is not empty.
    Operand(usize),
    /// What a gate keeps of two at least.
    Gate(Gate, Vec<Piece>),
}

/// What an operand is in the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Key(usize),
    Range(u64, u64),
}

/// The operands that occur, each once.
#[derive(Debug, Default)]
pub(super) struct Operands {
    pub(super) bitmaps: Vec<Bitmap>,
    pub(super) names: Vec<Name>,
    /// The smallest and the largest id of each.
    bounds: Vec<(u64, u64)>,
    by_name: HashMap<Name, usize>,
}

impl Operands {
    fn bind(&mut self, name: Name, make: impl FnOnce() -> Bitmap) -> Piece {
        if let Some(known) = self.by_name.get(&name) {
            return Piece::Operand(*known);
        }
        let bitmap = make();
        let (Some(min), Some(max)) = (bitmap.min(), bitmap.max()) else {
            return Piece::Empty;
        };
        let operand = self.bitmaps.len();
        self.bitmaps.push(bitmap);
        self.names.push(name);
        self.bounds.push((min, max));
        self.by_name.insert(name, operand);
        Piece::Operand(operand)
    }

    /// Binds and folds a term to `keys`; a key that is missing is empty. As deep as the term.
    pub(super) fn fold(&mut self, term: &Term, keys: &[Bitmap]) -> Piece {
        match term {
            Term::Key(key) => self.bind(Name::Key(*key), || keys.get(*key).cloned().unwrap_or_default()),
            Term::Range(start, end) => self.bind(Name::Range(*start, *end), || {
                let mut range = Bitmap::new();
                range.insert_range(*start..=*end);
                range
            }),
            // The caller refuses them until there are columns.
            Term::Predicate(_) => Piece::Empty,
            Term::Gate(gate, terms) => {
                let pieces = terms.iter().map(|term| self.fold(term, keys)).collect();
                self.gate(*gate, pieces)
            }
        }
    }

    fn gate(&self, gate: Gate, pieces: Vec<Piece>) -> Piece {
        match gate {
            Gate::Combine(Combination::And) => self.all(pieces),
            Gate::Combine(Combination::Or) => self.any(pieces),
            Gate::Combine(Combination::Xor) => self.odd(pieces),
            Gate::Combine(Combination::Diff) => self.difference(pieces),
            Gate::Combine(Combination::AtLeast(k) | Combination::Exactly(k)) => {
                self.threshold(gate, k as usize, pieces)
            }
            Gate::Streak(k) => self.streak(k, pieces),
            Gate::Combine(_) => Piece::Gate(gate, pieces),
        }
    }

    fn all(&self, pieces: Vec<Piece>) -> Piece {
        let mut pieces = distinct(flattened(Combination::And, pieces));
        let bounds = pieces.iter().map(|piece| self.bounds(piece));
        let common = bounds.reduce(|a, b| Some((a?.0.max(b?.0), a?.1.min(b?.1)))).flatten();
        if common.is_none_or(|(min, max)| min > max) {
            return Piece::Empty;
        }
        pieces.sort_by_cached_key(|piece| self.size(piece));
        joined(Combination::And, pieces)
    }

    fn any(&self, pieces: Vec<Piece>) -> Piece {
        let mut pieces = distinct(without_empty(flattened(Combination::Or, pieces)));
        pieces.sort_by_cached_key(|piece| self.size(piece));
        joined(Combination::Or, pieces)
    }

    /// What occurs twice takes itself out.
    fn odd(&self, pieces: Vec<Piece>) -> Piece {
        let pieces = without_empty(flattened(Combination::Xor, pieces));
        let mut times: HashMap<&Piece, usize> = HashMap::new();
        pieces.iter().for_each(|piece| *times.entry(piece).or_default() += 1);
        let is_left: Vec<bool> =
            pieces.iter().map(|piece| times.get(piece).is_some_and(|times| times % 2 == 1)).collect();
        let mut left = distinct(those(pieces, is_left));
        left.sort_by_cached_key(|piece| self.size(piece));
        joined(Combination::Xor, left)
    }

    fn difference(&self, mut pieces: Vec<Piece>) -> Piece {
        if pieces.is_empty() {
            return Piece::Empty;
        }
        let mut others = pieces.split_off(1);
        let mut first = pieces.pop().unwrap_or(Piece::Empty);
        // (a - b) - c is a - b - c, and a - (b | c) too.
        if let Piece::Gate(Gate::Combine(Combination::Diff), inner) = first {
            let mut inner = inner.into_iter();
            first = inner.next().unwrap_or(Piece::Empty);
            others.extend(inner);
        }
        let Some((min, max)) = self.bounds(&first) else {
            return Piece::Empty;
        };
        let others = distinct(without_empty(flattened(Combination::Or, others)));
        if others.contains(&first) {
            return Piece::Empty;
        }
        let overlaps = |other: &(u64, u64)| other.0 <= max && other.1 >= min;
        let mut pieces = vec![first];
        pieces.extend(others.into_iter().filter(|other| self.bounds(other).as_ref().is_some_and(overlaps)));
        pieces[1..].sort_by_cached_key(|piece| self.size(piece));
        joined(Combination::Diff, pieces)
    }

    fn threshold(&self, gate: Gate, k: usize, pieces: Vec<Piece>) -> Piece {
        let mut pieces = without_empty(pieces);
        match pieces.len() {
            n if k > n => Piece::Empty,
            n if k == n => self.all(pieces),
            _ if gate == Gate::Combine(Combination::AtLeast(1)) => self.any(pieces),
            _ => {
                pieces.sort_by_cached_key(|piece| self.size(piece));
                Piece::Gate(gate, pieces)
            }
        }
    }

    /// An operand without ids interrupts every streak.
    fn streak(&self, k: u32, pieces: Vec<Piece>) -> Piece {
        let rows = pieces.split(|piece| *piece == Piece::Empty).filter(|row| row.len() >= k as usize);
        let streaks = rows.map(|row| match k as usize {
            1 => self.any(row.to_vec()),
            k if k == row.len() => self.all(row.to_vec()),
            _ => Piece::Gate(Gate::Streak(k), row.to_vec()),
        });
        self.any(streaks.collect())
    }

    /// The most ids that a piece can keep.
    pub(super) fn size(&self, piece: &Piece) -> u128 {
        match piece {
            Piece::Empty => 0,
            Piece::Operand(operand) => self.bitmaps[*operand].cardinality(),
            Piece::Gate(Gate::Combine(Combination::And), inner) => {
                inner.iter().map(|piece| self.size(piece)).min().unwrap_or(0)
            }
            Piece::Gate(Gate::Combine(Combination::Diff), inner) => {
                inner.first().map_or(0, |first| self.size(first))
            }
            Piece::Gate(_, inner) => {
                inner.iter().fold(0u128, |sum, piece| sum.saturating_add(self.size(piece)))
            }
        }
    }

    /// Bounds of the ids that a piece can keep; `None` if it keeps none.
    pub(super) fn bounds(&self, piece: &Piece) -> Option<(u64, u64)> {
        match piece {
            Piece::Empty => None,
            Piece::Operand(operand) => Some(self.bounds[*operand]),
            Piece::Gate(Gate::Combine(Combination::And), inner) => {
                let bounds = inner.iter().map(|piece| self.bounds(piece));
                bounds.reduce(|a, b| Some((a?.0.max(b?.0), a?.1.min(b?.1)))).flatten()
            }
            Piece::Gate(Gate::Combine(Combination::Diff), inner) => {
                inner.first().and_then(|first| self.bounds(first))
            }
            Piece::Gate(_, inner) => {
                let bounds = inner.iter().filter_map(|piece| self.bounds(piece));
                bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }
}

/// The pieces, those of inner combinations of the same kind in their place.
fn flattened(combination: Combination, pieces: Vec<Piece>) -> Vec<Piece> {
    let flatten = |piece| match piece {
        Piece::Gate(Gate::Combine(inner), pieces) if inner == combination => pieces,
        piece => vec![piece],
    };
    pieces.into_iter().flat_map(flatten).collect()
}

fn without_empty(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.retain(|piece| *piece != Piece::Empty);
    pieces
}

/// Each piece once, where it occurs first.
fn distinct(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut known = HashSet::new();
    let is_new: Vec<bool> = pieces.iter().map(|piece| known.insert(piece)).collect();
    those(pieces, is_new)
}

/// The pieces that are marked.
fn those(pieces: Vec<Piece>, marks: Vec<bool>) -> Vec<Piece> {
    pieces.into_iter().zip(marks).filter(|(_, mark)| *mark).map(|(piece, _)| piece).collect()
}

fn joined(combination: Combination, mut pieces: Vec<Piece>) -> Piece {
    match pieces.len() {
        0 => Piece::Empty,
        1 => pieces.pop().unwrap_or(Piece::Empty),
        _ => Piece::Gate(Gate::Combine(combination), pieces),
    }
}
