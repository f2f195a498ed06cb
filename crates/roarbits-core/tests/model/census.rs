//! What the operations of a run did to the structure, told from `stats()` before
//! and after each: a test of equal answers alone would pass on a bitmap that never
//! left its first form.
//!
//! Only what is unambiguous is counted: changes of form where the number of leaves
//! and of chunks stayed, splits, merges and joins where no chunk came or went, so
//! that no leaf was emptied or begun.

use roarbits_core::bitmap::{ByForm, Stats};

/// Forms of leaves, as indices.
const FORMS: [&str; 3] = ["ids", "runs", "bits"];

/// What made a leaf or changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Ids set one by one.
    Insertion,
    /// Ids cleared one by one.
    Removal,
    /// Ranges, algebra, builders.
    Bulk,
    /// Decoding.
    Load,
}

const CAUSES: [Cause; 4] = [Cause::Insertion, Cause::Removal, Cause::Bulk, Cause::Load];

/// Counts of what happened.
#[derive(Debug, Clone, Default)]
pub struct Census {
    pub operations: u64,
    /// Leaves of each form by what made them.
    made: [[u64; 3]; 4],
    /// Changes of form, from and to.
    changes: [[u64; 3]; 3],
    leaf_splits: u64,
    leaf_merges: u64,
    node_splits: u64,
    node_joins: u64,
    root_growths: u64,
    root_collapses: u64,
}

fn figures(by_form: ByForm<u64>) -> [u64; 3] {
    [by_form.ids, by_form.runs, by_form.bits]
}

fn sum(by_form: ByForm<u64>) -> u64 {
    figures(by_form).iter().sum()
}

impl Census {
    /// Takes up one operation.
    pub fn record(&mut self, cause: Cause, before: &Stats, after: &Stats) {
        self.operations += 1;
        let old = figures(before.leaves);
        let new = figures(after.leaves);
        for form in 0..FORMS.len() {
            let kept = if cause == Cause::Load { 0 } else { old[form] };
            self.made[cause as usize][form] += new[form].saturating_sub(kept);
        }
        if matches!(cause, Cause::Insertion | Cause::Removal) {
            self.record_changes(before, after);
        }
    }

    fn record_changes(&mut self, before: &Stats, after: &Stats) {
        let same_chunks = sum(before.containers) == sum(after.containers);
        let (old, new) = (sum(before.leaves), sum(after.leaves));
        if same_chunks {
            self.leaf_splits += new.saturating_sub(old);
            self.leaf_merges += old.saturating_sub(new);
            if old == new {
                self.record_forms(figures(before.leaves), figures(after.leaves));
            }
        }
        let grown = u64::from(after.height.saturating_sub(before.height));
        let collapsed = u64::from(before.height.saturating_sub(after.height));
        self.root_growths += grown;
        self.root_collapses += collapsed;
        self.node_splits += after.nodes.saturating_sub(before.nodes + grown);
        if same_chunks {
            self.node_joins += before.nodes.saturating_sub(after.nodes + collapsed);
        }
    }

    fn record_forms(&mut self, old: [u64; 3], new: [u64; 3]) {
        for (from, to, third) in [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)] {
            if old[third] == new[third] {
                self.changes[from][to] += new[to].saturating_sub(old[to]);
            }
        }
    }

    /// Adds what another run did.
    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        for (to, from) in self.figures_mut().into_iter().zip(other.clone().figures_mut()) {
            *to += *from;
        }
    }

    fn figures_mut(&mut self) -> Vec<&mut u64> {
        let tables = self.made.iter_mut().flatten().chain(self.changes.iter_mut().flatten());
        tables
            .chain([
                &mut self.leaf_splits,
                &mut self.leaf_merges,
                &mut self.node_splits,
                &mut self.node_joins,
                &mut self.root_growths,
                &mut self.root_collapses,
            ])
            .collect()
    }

    /// Each figure by name, with the least that a run must reach.
    pub fn rows(&self, crossings: u64, nodes: u64) -> Vec<(String, u64, u64)> {
        let mut rows = Vec::new();
        for cause in CAUSES {
            for (form, name) in FORMS.iter().enumerate() {
                rows.push((format!("{name} made by {cause:?}"), self.made[cause as usize][form], crossings));
            }
        }
        for (from, of) in FORMS.iter().enumerate() {
            for (to, into) in FORMS.iter().enumerate().filter(|(to, _)| *to != from) {
                rows.push((format!("{of} to {into}"), self.changes[from][to], crossings));
            }
        }
        rows.extend([
            ("leaf splits".into(), self.leaf_splits, crossings),
            ("leaf merges".into(), self.leaf_merges, crossings),
            ("node splits".into(), self.node_splits, nodes),
            ("node joins".into(), self.node_joins, nodes),
            ("root growths".into(), self.root_growths, crossings),
            ("root collapses".into(), self.root_collapses, crossings),
        ]);
        rows
    }
}
