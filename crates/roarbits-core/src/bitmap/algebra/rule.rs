//! Which ids a combination keeps, told from how many operands have them, and what
//! that decides before any id is looked at.

/// Keeps an id by the operands that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// In at least `low` and at most `high` operands, `1 <= low <= high`.
    Between { low: u32, high: u32 },
    /// In an odd number of operands.
    Odd,
    /// In the first operand and in none of the others.
    FirstOnly,
    /// In the first operand and in one of the others at least.
    FirstAndOther,
    /// Not in the first operand, but in one of the others at least.
    OtherOnly,
}

/// What is known of the operands over a stretch of ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// What is known of the first operand, where the rule tells it from the others.
    pub(crate) first: Presence,
    /// Operands, but for such a first one, that have every id of the stretch.
    pub(crate) full: u32,
    /// Those that have some of its ids, or may have.
    pub(crate) open: u32,
}

/// How much of a stretch an operand has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// None of its ids.
    #[default]
    Absent,
    /// Some, or not known.
    Open,
    /// All of them.
    Full,
}

/// What a rule makes of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Keeps none of its ids.
    None,
    /// Keeps all of them.
    All,
    /// That depends on the open operands.
    Open,
}

impl Rule {
    /// Whether the rule tells the first operand from the others.
    pub(crate) fn has_first(self) -> bool {
        matches!(self, Self::FirstOnly | Self::FirstAndOther | Self::OtherOnly)
    }

    /// Whether an id is kept that the first operand has or not (where the rule tells it
    /// from the others) and that `count` of the (other) operands have.
    pub(crate) fn keeps(self, first: bool, count: u32) -> bool {
        match self {
            Self::Between { low, high } => (low..=high).contains(&count),
            Self::Odd => count % 2 == 1,
            Self::FirstOnly => first && count == 0,
            Self::FirstAndOther => first && count > 0,
            Self::OtherOnly => !first && count > 0,
        }
    }

    /// What is certain of a stretch.
    pub(crate) fn outcome(self, known: Known) -> Outcome {
        let (least, most) = (known.full, known.full + known.open);
        let (none, all) = match self {
            Self::Between { low, high } => (most < low || least > high, least >= low && most <= high),
            Self::Odd => (known.open == 0 && least % 2 == 0, known.open == 0 && least % 2 == 1),
            Self::FirstOnly => {
                (known.first == Presence::Absent || least > 0, known.first == Presence::Full && most == 0)
            }
            Self::FirstAndOther => {
                (known.first == Presence::Absent || most == 0, known.first == Presence::Full && least > 0)
            }
            Self::OtherOnly => {
                (known.first == Presence::Full || most == 0, known.first == Presence::Absent && least > 0)
            }
        };
        match (none, all) {
            (true, _) => Outcome::None,
            (_, true) => Outcome::All,
            _ => Outcome::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way in which the open operands can have an id.
    fn possible(rule: Rule, known: Known) -> Vec<bool> {
        let firsts: &[bool] = match known.first {
            Presence::Absent => &[false],
            Presence::Full => &[true],
            Presence::Open => &[false, true],
        };
        let counts = known.full..=known.full + known.open;
        counts.flat_map(|count| firsts.iter().map(move |first| rule.keeps(*first, count))).collect()
    }

    #[test]
    fn an_outcome_is_certain_when_every_possibility_agrees() {
        let mut rules = vec![Rule::Odd, Rule::FirstOnly, Rule::FirstAndOther, Rule::OtherOnly];
        rules.extend((1..=5).flat_map(|low| (low..=5).map(move |high| Rule::Between { low, high })));
        for rule in rules {
            for first in [Presence::Absent, Presence::Open, Presence::Full] {
                for (full, open) in (0..=5).flat_map(|full| (0..=5 - full).map(move |open| (full, open))) {
                    let first = if rule.has_first() { first } else { Presence::Absent };
                    let known = Known { first, full, open };
                    let kept = possible(rule, known);
                    let expected = match (kept.contains(&true), kept.contains(&false)) {
                        (true, true) => Outcome::Open,
                        (true, false) => Outcome::All,
                        _ => Outcome::None,
                    };
                    assert_eq!(rule.outcome(known), expected, "{rule:?} {known:?}");
                }
            }
        }
    }
}
