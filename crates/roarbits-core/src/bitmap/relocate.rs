//! Moving leaves to other memory, for an allocator that is being defragmented.
//!
//! Only a leaf that nobody shares may move: every reference count from the root
//! down to it must be one. A shared subtree is passed without a look inside, so a
//! snapshot never sees its words leave. Headers and nodes stay where they are:
//! a reference count cannot be moved with what it counts.

use triomphe::Arc;

use super::tree::Child;
use super::words::Words;
use super::Bitmap;

impl Bitmap {
    /// Hands out the words of each unshared leaf, ascending from the one that has or
    /// would have `from`, and takes back what `relocated` makes of them: the same words,
    /// perhaps elsewhere. Between two leaves it asks `should_stop`; if so, the id to go
    /// on from, never 0, so that repeated calls get through the whole bitmap. Writes
    /// between two calls do no harm: a leaf may then be missed or moved twice.
    /// O(log n + leaves visited).
    pub fn relocate(
        &mut self,
        from: u64,
        relocated: &mut dyn FnMut(Box<[u64]>) -> Box<[u64]>,
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Option<u64> {
        let mut pass = Pass { from, has_passed: false, relocated, should_stop };
        self.root.as_mut().and_then(|root| pass.visit(root))
    }
}

/// One call of `Bitmap::relocate`.
struct Pass<'a> {
    from: u64,
    /// Whether a subtree lies behind: each call passes one at least.
    has_passed: bool,
    relocated: &'a mut dyn FnMut(Box<[u64]>) -> Box<[u64]>,
    should_stop: &'a mut dyn FnMut() -> bool,
}

impl Pass<'_> {
    /// Relocates what may be below `child`; the least id of the first subtree not visited, if stopped.
    fn visit(&mut self, child: &mut Child) -> Option<u64> {
        if self.has_passed && (self.should_stop)() {
            return Some(child.min());
        }
        match child {
            Child::Leaf(leaf) => {
                self.has_passed = true;
                if let Some(Words::Boxed(words)) = Arc::get_mut(leaf).map(|leaf| &mut leaf.words) {
                    *words = (self.relocated)(std::mem::take(words));
                }
                None
            }
            Child::Node(node) => {
                let Some(node) = Arc::get_mut(node) else {
                    self.has_passed = true;
                    return None;
                };
                let first = node.index_of(self.from);
                let mut children = node.children.iter_mut().skip(first);
                children.find_map(|child| self.visit(child))
            }
        }
    }
}
