//! An expression bound to bitmaps, ready to be asked.

use std::fmt::Write;

use super::estimate::Estimate;
use super::fold::{Name, Operands, Piece};
use super::Expression;
use crate::bitmap::{Bitmap, Combination, Formula, Gate, Watch};

/// An expression bound to snapshots of its operands and folded, smallest operand first.
///
/// ```
/// use roarbits_core::expr::{Expression, Plan, Watch};
/// use roarbits_core::Bitmap;
///
/// let monday: Bitmap = [1, 2, 3].into_iter().collect();
/// let tuesday: Bitmap = [2, 3, 4].into_iter().collect();
/// let both = Expression::parse(b"$1 & $2", 2)?;
/// let plan = Plan::new(&both, &[monday, tuesday]);
/// assert_eq!(plan.count(&Watch::new()), Some(2));
/// # Ok::<(), roarbits_core::expr::SyntaxError>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    operands: Operands,
    piece: Piece,
    formula: Formula,
}

impl Plan {
    /// Binds `$1`, `$2`, ... to `operands` in their order, of which it keeps clones; any that are
    /// missing are empty. Predicates, which the caller refuses, keep nothing. O(terms x depth).
    pub fn new(expression: &Expression, operands: &[Bitmap]) -> Self {
        let mut bound = Operands::default();
        let piece = bound.fold(&expression.root, operands);
        let mut formula = Formula::default();
        add(&piece, &mut formula);
        Self { operands: bound, piece, formula }
    }

    /// What a count or an evaluation is likely to cost. O(terms x log n), without a walk.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.piece, &self.operands)
    }

    /// The most ids that can be kept, told from the sizes of the operands. O(terms).
    pub fn most(&self) -> u128 {
        self.operands.size(&self.piece)
    }

    /// The planned expression as text that can be parsed: ranges and keys that are left after
    /// folding, the smallest first where the order is free.
    pub fn order(&self) -> String {
        let mut text = String::new();
        self.write(&self.piece, Binding::Loosest, &mut text);
        text
    }

    /// The number of ids kept, 0 to 2^64; `None` if cancelled. Builds nothing.
    pub fn count(&self, watch: &Watch) -> Option<u128> {
        self.formula.count(&self.operands.bitmaps, watch)
    }

    /// The ids kept, as a bitmap just as long as its largest id needs; `None` if cancelled.
    pub fn evaluate(&self, watch: &Watch) -> Option<Bitmap> {
        self.formula.evaluate(&self.operands.bitmaps, watch)
    }

    /// At most `limit` ids kept, ascending, that are above `after` (if given), without the first
    /// `offset` of those; `None` if cancelled. Costs by the page, and by what lies between `after`
    /// and the page, as far as that is not kept as whole subtrees.
    pub fn page(&self, after: Option<u64>, offset: u64, limit: usize, watch: &Watch) -> Option<Vec<u64>> {
        match after.map_or(Some(0), |after| after.checked_add(1)) {
            Some(from) => self.formula.page(&self.operands.bitmaps, from, offset, limit, watch),
            None => Some(Vec::new()),
        }
    }

    /// Whether each of `ids` is kept, in their order. O(ids x terms x log n) at most.
    pub fn test(&self, ids: &[u64]) -> Vec<bool> {
        self.formula.test(&self.operands.bitmaps, ids)
    }

    /// As deep as the piece.
    fn write(&self, piece: &Piece, around: Binding, text: &mut String) {
        let (gate, inner) = match piece {
            Piece::Empty => return text.push_str("range(1, 0)"),
            Piece::Operand(operand) => return self.write_operand(*operand, text),
            Piece::Gate(gate, inner) => (*gate, inner),
        };
        let (binding, sign) = match gate {
            Gate::Combine(Combination::Or) => (Binding::Or, " | "),
            Gate::Combine(Combination::Xor) => (Binding::Xor, " ^ "),
            Gate::Combine(Combination::And) => (Binding::And, " & "),
            Gate::Combine(Combination::Diff) => (Binding::Minus, " - "),
            gate => return self.write_call(gate, inner, text),
        };
        let is_inner = binding <= around;
        text.push_str(if is_inner { "(" } else { "" });
        self.write_list(inner, binding, sign, text);
        text.push_str(if is_inner { ")" } else { "" });
    }

    fn write_list(&self, pieces: &[Piece], around: Binding, sign: &str, text: &mut String) {
        for (i, piece) in pieces.iter().enumerate() {
            text.push_str(if i > 0 { sign } else { "" });
            self.write(piece, around, text);
        }
    }

    fn write_operand(&self, operand: usize, text: &mut String) {
        // Writing to a string does not fail.
        let _ = match self.operands.names[operand] {
            Name::Key(key) => write!(text, "${}", key + 1),
            Name::Range(start, end) => write!(text, "range({start}, {end})"),
        };
    }

    fn write_call(&self, gate: Gate, pieces: &[Piece], text: &mut String) {
        let _ = match gate {
            Gate::Combine(Combination::AtLeast(k)) => write!(text, "atleast({k}, "),
            Gate::Combine(Combination::Exactly(k)) => write!(text, "exactly({k}, "),
            Gate::Streak(k) => write!(text, "streak({k}, "),
            Gate::Combine(other) => write!(text, "{other:?}("),
        };
        self.write_list(pieces, Binding::Loosest, ", ", text);
        text.push(')');
    }
}

/// How tightly an operator binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Loosest,
    Or,
    Xor,
    And,
    Minus,
}

/// Adds a piece to a formula, its parts first; its node.
fn add(piece: &Piece, formula: &mut Formula) -> Option<usize> {
    match piece {
        Piece::Empty => None,
        Piece::Operand(operand) => Some(formula.operand(*operand)),
        Piece::Gate(gate, inner) => {
            let children = inner.iter().filter_map(|piece| add(piece, formula)).collect();
            Some(formula.gate(*gate, children))
        }
    }
}
