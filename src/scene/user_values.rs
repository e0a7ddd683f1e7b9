//! `Attribute "user"`: values by their names, as a persistent map. A scene declares values between
//! objects, and each object has all that were declared before it: the maps of objects share what
//! they have in common, so that a declaration costs as much as a path of a balanced tree.

use super::ParamValue;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// Values by their names, in the order of the names. A copy shares the memory of the original.
#[derive(Clone, Default)]
pub struct UserValues {
    root: Link,
}

type Link = Option<Arc<Node>>;

/// A node of an AVL tree: the heights of its two subtrees differ by at most 1.
struct Node {
    entry: Arc<(String, ParamValue)>,
    left: Link,
    right: Link,
    height: u8,
}

/// The nodes of several maps that were visited ([`UserValues::unvisited`]), by their addresses.
#[derive(Debug, Default)]
pub struct VisitedValues(HashSet<usize>);

impl UserValues {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match name.cmp(&node.entry.0) {
                Ordering::Less => &node.left,
                Ordering::Greater => &node.right,
                Ordering::Equal => return Some(&node.entry.1),
            };
        }
        None
    }

    /// Gives a name a value, in place of the one that it had.
    pub fn insert(&mut self, name: String, value: ParamValue) {
        self.root = Some(inserted(&self.root, Arc::new((name, value))));
    }

    /// True if there is no value.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// All values, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParamValue)> {
        fn descend<'a>(path: &mut Vec<&'a Node>, mut link: &'a Link) {
            while let Some(node) = link {
                path.push(node);
                link = &node.left;
            }
        }
        let mut path = Vec::new();
        descend(&mut path, &self.root);
        std::iter::from_fn(move || {
            let node = path.pop()?;
            descend(&mut path, &node.right);
            Some((node.entry.0.as_str(), &node.entry.1))
        })
    }

    /// The values that no map has shown before that was asked with the same `visited`, in no
    /// particular order: for all objects of a scene together the work is that of declaring them.
    /// The maps must live as long as `visited`.
    pub fn unvisited<'a>(&'a self, visited: &mut VisitedValues) -> Vec<(&'a str, &'a ParamValue)> {
        let mut found = Vec::new();
        let mut work: Vec<&Arc<Node>> = self.root.iter().collect();
        while let Some(node) = work.pop() {
            if visited.0.insert(Arc::as_ptr(node).addr()) {
                if visited.0.insert(Arc::as_ptr(&node.entry).addr()) {
                    found.push((node.entry.0.as_str(), &node.entry.1));
                }
                work.extend(node.left.iter().chain(&node.right));
            }
        }
        found
    }
}

fn height(link: &Link) -> u8 {
    link.as_ref().map_or(0, |node| node.height)
}

fn node(entry: Arc<(String, ParamValue)>, left: Link, right: Link) -> Arc<Node> {
    let height = 1 + height(&left).max(height(&right));
    Arc::new(Node { entry, left, right, height })
}

/// The tree with an entry. What lies beside the path to it is shared.
fn inserted(link: &Link, entry: Arc<(String, ParamValue)>) -> Arc<Node> {
    let Some(old) = link else { return node(entry, None, None) };
    match entry.0.cmp(&old.entry.0) {
        Ordering::Equal => node(entry, old.left.clone(), old.right.clone()),
        Ordering::Less => balanced(&old.entry, Some(inserted(&old.left, entry)), old.right.clone()),
        Ordering::Greater => balanced(&old.entry, old.left.clone(), Some(inserted(&old.right, entry))),
    }
}

/// A node whose subtrees differ in height by at most 2, rotated so that they differ by at most 1.
fn balanced(entry: &Arc<(String, ParamValue)>, left: Link, right: Link) -> Arc<Node> {
    match (&left, &right) {
        (Some(l), _) if l.height > height(&right) + 1 => match &l.right {
            Some(inner) if inner.height > height(&l.left) => {
                let outer = node(l.entry.clone(), l.left.clone(), inner.left.clone());
                let other = node(entry.clone(), inner.right.clone(), right);
                node(inner.entry.clone(), Some(outer), Some(other))
            }
            inner => {
                let other = node(entry.clone(), inner.clone(), right);
                node(l.entry.clone(), l.left.clone(), Some(other))
            }
        },
        (_, Some(r)) if r.height > height(&left) + 1 => match &r.left {
            Some(inner) if inner.height > height(&r.right) => {
                let outer = node(r.entry.clone(), inner.right.clone(), r.right.clone());
                let other = node(entry.clone(), left, inner.left.clone());
                node(inner.entry.clone(), Some(other), Some(outer))
            }
            inner => {
                let other = node(entry.clone(), left, inner.clone());
                node(r.entry.clone(), Some(other), r.right.clone())
            }
        },
        _ => node(entry.clone(), left, right),
    }
}

impl PartialEq for UserValues {
    fn eq(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl std::fmt::Debug for UserValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: usize) -> ParamValue {
        ParamValue::Integer(vec![x as i32])
    }

    #[test]
    fn a_map_has_the_last_value_of_each_name_in_order() {
        let mut values = UserValues::default();
        let mut expected = std::collections::BTreeMap::new();
        for i in 0..2000_usize {
            let name = format!("a{}", i * 7919 % 1009);
            values.insert(name.clone(), number(i));
            expected.insert(name, number(i));
        }
        assert!(values.iter().eq(expected.iter().map(|(name, value)| (name.as_str(), value))));
        assert_eq!(values.get("a17"), expected.get("a17"));
        assert_eq!(values.get("b"), None);
        assert!(height(&values.root) <= 14, "{}", height(&values.root));
    }

    #[test]
    fn a_copy_keeps_its_values_and_shares_what_does_not_change() {
        let mut values = UserValues::default();
        (0..1000).for_each(|i| values.insert(format!("{i:04}"), number(i)));
        let before = values.clone();
        values.insert("0500".to_string(), number(7));
        assert_eq!((before.get("0500"), values.get("0500")), (Some(&number(500)), Some(&number(7))));
        assert!(before != values && before == before.clone());
        let mut visited = VisitedValues::default();
        assert_eq!(before.unvisited(&mut visited).len(), 1000);
        assert_eq!(values.unvisited(&mut visited), [("0500", &number(7))]);
        let paths = visited.0.len();
        assert!(paths <= 2000 + 12, "a declaration makes the nodes of one path: {paths}");
    }
}
