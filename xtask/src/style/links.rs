//! Links between the documents.

use std::path::Path;

use crate::context::Context;
use crate::files::TextFile;

/// The links of one Markdown file that lead to no file of this checkout.
pub(super) fn problems(context: &Context, file: &TextFile) -> Vec<String> {
    if Path::new(&file.path)
        .extension()
        .is_none_or(|extension| extension != "md")
    {
        return Vec::new();
    }
    let document = context.root.join(&file.path);
    let folder = document.parent().unwrap_or(&context.root);
    local_links(&file.text)
        .into_iter()
        .filter(|(_, target)| !folder.join(target).exists())
        .map(|(line, target)| format!("{}:{line}: the link to {target} leads nowhere", file.path))
        .collect()
}

/// The targets of inline links that are paths, without their fragments, by line.
fn local_links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for after in line.split("](").skip(1) {
            let target = after.split([')', '#']).next().unwrap_or_default().trim();
            let is_path = !target.is_empty() && !target.contains(':') && !target.contains(' ');
            if is_path {
                links.push((index + 1, target));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_links_and_addresses_are_not() {
        let text =
            "[a](../a.md#x) [b](https://example.com/b)\n```\n[c](c.md)\n```\n[d](#d) [e](e.rs)\n";
        assert_eq!(local_links(text), [(1, "../a.md"), (5, "e.rs")]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let context = Context::discover().expect("the tests run in the workspace");
        let file = TextFile {
            path: "docs/x.md".to_owned(),
            text: "[a](../Cargo.toml) [b](../no-such-file.toml)\n".to_owned(),
        };
        let expected = "docs/x.md:1: the link to ../no-such-file.toml leads nowhere";
        assert_eq!(problems(&context, &file), [expected]);
    }
}
