use std::cmp::Ordering;

use everruns_core::path::WorkspacePath;

/// Compares two paths by mount and then component by component, in byte order.
///
/// This is the order of listings and searches: `a/z` comes before `a.txt`, because `a` does.
pub fn compare_by_components(left: &WorkspacePath, right: &WorkspacePath) -> Ordering {
    left.mount()
        .cmp(right.mount())
        .then_with(|| left.components().cmp(right.components()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_sort_by_their_own_name() {
        let mut paths: Vec<_> = ["a.txt", "b", "a/z", "a", "a-b/c"]
            .iter()
            .map(|text| WorkspacePath::parse(text).unwrap())
            .collect();
        paths.sort_by(compare_by_components);
        let sorted: Vec<_> = paths.iter().map(WorkspacePath::relative).collect();
        assert_eq!(sorted, ["a", "a/z", "a-b/c", "a.txt", "b"]);
    }
}
