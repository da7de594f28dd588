//! Every `head` command, as text and as JSON, and every way to name a head.

use std::path::Path;

use crate::support::{Place, redacted, text};

fn write(folder: &Path, name: &str, bytes: &str) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// A head with a changed, a new and a removed file.
fn changed(place: &Place, name: &str) -> (String, std::path::PathBuf) {
    let (id, folder) = place.head(name);
    write(
        &folder,
        "src/lib.rs",
        "pub fn answer() -> u32 {\n    43\n}\n",
    );
    write(&folder, "new.txt", "new\n");
    std::fs::remove_file(folder.join("empty")).unwrap();
    (id, folder)
}

/// Runs a command of plain Git that was printed, in the user's repository.
#[expect(
    clippy::disallowed_methods,
    reason = "as a user does who copies it into a shell"
)]
fn run_as_told(place: &Place, command: &str) {
    let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"];
    let addresses = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let status = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(place.repository.path())
        .envs(names.map(|name| (name, "Somebody")))
        .envs(addresses.map(|name| (name, "somebody@example.org")))
        .status();
    assert!(status.unwrap().success(), "{command}");
}

fn printed(place: &Place, arguments: &[&str]) -> String {
    redacted(&place.ok(arguments), &place.folder())
}

#[test]
fn heads_are_made_listed_and_forked() {
    let place = Place::new();
    insta::assert_snapshot!("list_none", printed(&place, &["head", "list"]));
    insta::assert_snapshot!("create", printed(&place, &["head", "create", "feature"]));
    let shared = ["head", "create", "together", "--from", "other", "--shared"];
    let made = place.json(&shared);
    assert_eq!(made["head"]["access"], "shared");
    assert_eq!(
        made["head"]["base"],
        place.repository.id_of("other").as_str()
    );
    let long = "A rather long name for a head that nobody wants to type twice";
    changed(&place, long);
    insta::assert_snapshot!("list", printed(&place, &["head", "list"]));
    let forked = place.run(&["head", "fork", long, "again"]);
    insta::assert_snapshot!("fork", forked.printed());
    let listed = place.json(&["head", "list"]);
    let fork = &listed["heads"][3];
    assert_eq!(fork["name"], "again");
    let status = place.json(&["head", "status", "again"]);
    assert_eq!(status["entries"].as_array().unwrap().len(), 3, "{status}");
    insta::assert_snapshot!("name_taken", place.refused(&["head", "create", "feature"]));
    insta::assert_snapshot!(
        "fork_name_taken",
        place.refused(&["head", "fork", long, "again"])
    );
}

#[test]
fn status_and_diff_show_what_differs() {
    let place = Place::new();
    place.head("clean");
    insta::assert_snapshot!(
        "status_clean",
        printed(&place, &["head", "status", "clean"])
    );
    insta::assert_snapshot!("diff_clean", printed(&place, &["head", "diff", "clean"]));
    changed(&place, "feature");
    insta::assert_snapshot!("status", printed(&place, &["head", "status", "feature"]));
    insta::assert_snapshot!("diff", printed(&place, &["head", "diff", "feature"]));
    insta::assert_snapshot!(
        "diff_stat",
        printed(&place, &["head", "diff", "feature", "--stat"])
    );
    let status = place.json(&["head", "status", "feature"]);
    assert_eq!(status["dirty"], true);
    let diff = place.json(&["head", "diff", "feature"]);
    assert_eq!(diff["files"].as_array().unwrap().len(), 3, "{diff}");
}

/// What the program says of plain Git is true: what is kept comes back with it.
#[test]
fn checkpoints_are_kept_where_it_says() {
    let place = Place::new();
    let (id, folder) = place.head("feature");
    insta::assert_snapshot!(
        "checkpoints_none",
        printed(&place, &["head", "checkpoint", "feature", "--list"])
    );
    insta::assert_snapshot!(
        "checkpoint_clean",
        printed(&place, &["head", "checkpoint", "feature"])
    );
    write(&folder, "new.txt", "new\n");
    let kept = place.json(&["head", "checkpoint", "feature", "--label", "half done"]);
    let location = kept["location"].as_str().unwrap();
    let number = &kept["number"];
    assert_eq!(
        location,
        format!("refs/everruns/heads/{id}/checkpoints/{number}")
    );
    assert_eq!(
        place.repository.id_of(location),
        kept["revision"].as_str().unwrap()
    );
    let shown = place
        .repository
        .git(&["show", &format!("{location}:new.txt")]);
    assert_eq!(shown.text(), "new");
    let of_git = place
        .repository
        .git(&["diff", &format!("{location}^"), location])
        .text();
    assert!(of_git.contains("+new"), "{of_git}");

    write(&folder, "new.txt", "newer\n");
    let said = place.ok(&["head", "checkpoint", "feature"]);
    assert!(
        said.starts_with("kept the present state of feature\n"),
        "{said}"
    );
    assert!(said.contains(&format!("refs/everruns/heads/{id}/checkpoints/")));
    let listed = place.json(&["head", "checkpoint", "feature", "--list"]);
    let labels: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|checkpoint| checkpoint["label"].clone())
        .collect();
    assert!(labels.contains(&"half done".into()), "{labels:?}");
    let list = place.ok(&["head", "checkpoint", "feature", "--list"]);
    assert!(list.contains("half done"), "{list}");
    assert!(
        list.ends_with(&format!(
            "each is kept under refs/everruns/heads/{id}/checkpoints/NUMBER\n"
        )),
        "{list}"
    );
}

#[test]
fn an_archived_head_is_kept_and_comes_back() {
    let place = Place::new();
    let (_, folder) = changed(&place, "feature");
    insta::assert_snapshot!("archive", printed(&place, &["head", "archive", "feature"]));
    for used in ["status", "diff", "checkpoint"] {
        insta::assert_snapshot!(
            format!("archived_{used}"),
            place.refused(&["head", used, "feature"])
        );
    }
    assert_eq!(text(folder.join("new.txt")), "new\n");
    let listed = place.json(&["head", "list"]);
    assert_eq!(listed["heads"][0]["state"], "archived");
    insta::assert_snapshot!("reopen", printed(&place, &["head", "reopen", "feature"]));
    assert_eq!(place.json(&["head", "status", "feature"])["dirty"], true);
}

#[test]
fn a_destroyed_head_leaves_its_branch_and_its_work() {
    let place = Place::new();
    let before = place.repository.snapshot();
    let (id, folder) = changed(&place, "feature");
    place.head("clean");
    let receipt = place.json(&["head", "destroy", "feature"]);
    assert!(!folder.exists());
    let kept = receipt["kept_ref"].as_str().unwrap();
    let shown = place.repository.git(&["show", &format!("{kept}:new.txt")]);
    assert_eq!(shown.text(), "new");
    let branch = receipt["kept_branch"].as_str().unwrap();
    place.repository.id_of(branch);
    insta::assert_snapshot!(
        "destroy_clean",
        printed(&place, &["head", "destroy", "clean"])
    );
    changed(&place, "another");
    let destroyed = place.ok(&["head", "destroy", "another"]);
    insta::assert_snapshot!("destroy", redacted(&destroyed, &place.folder()));
    let take_it = destroyed.split_once("take it").unwrap().1.lines().next();
    run_as_told(&place, take_it.unwrap());
    let log = ["log", "--format=%s", "main..NAME"];
    assert_eq!(place.repository.git(&log).text(), "Work of a head");
    let new = place.repository.git(&["show", "NAME:new.txt"]);
    assert_eq!(new.text(), "new");
    place.repository.git(&["branch", "-q", "-D", "NAME"]);

    insta::assert_snapshot!(
        "destroyed_by_name",
        place.refused(&["head", "status", "feature"])
    );
    for command in ["status", "archive", "destroy", "reopen"] {
        let said = place.refused(&["head", command, &id]);
        assert!(said.contains("was destroyed"), "{command}: {said}");
        assert!(
            said.contains("git switch --create") || said.contains("git branch my-branch"),
            "{command}: {said}"
        );
    }
    let alive = place.json(&["head", "list"]);
    assert_eq!(alive["heads"], serde_json::json!([]));
    insta::assert_snapshot!("list_all", printed(&place, &["head", "list", "--all"]));
    let changes = before.differences(&place.repository.snapshot());
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn heads_are_meant_by_name_id_or_the_beginning_of_an_id() {
    let place = Place::new();
    let (id, _) = place.head("feature");
    let rest = id.strip_prefix("head_").unwrap();
    for meant in ["feature", &id, rest, &id[..9], &rest[..4]] {
        let status = place.json(&["head", "status", meant]);
        assert_eq!(status["dirty"], false, "{meant}");
    }
    for meant in ["", "head", "head_", &rest[..3], &id[..8], "nobody"] {
        let said = place.refused(&["head", "status", meant]);
        assert!(said.contains("has no head"), "{meant}: {said}");
    }
    insta::assert_snapshot!("unknown_head", place.refused(&["head", "diff", "nobody"]));
    // A name is meant before an id.
    let (named, _) = place.head(&rest[..4]);
    let forked = place.json(&["head", "fork", &rest[..4], "of the name"]);
    assert_eq!(forked["head"]["forked_from"], named.as_str());
}

#[test]
fn an_ambiguous_beginning_is_refused() {
    let place = Place::new();
    let (id, _) = place.head("first");
    let record = place.state().join("workspace-provider/heads");
    // Ids are random: another head gets one with the same beginning by way of its record.
    let second = format!("{}zzzzzzzzzzz", &id[..14]);
    assert_eq!(second.len(), id.len());
    copy_record(&record, &id, &second);
    let said = place.refused(&["head", "status", &id[..12]]);
    let said = said.replace(&id[..12], "<beginning>");
    insta::assert_snapshot!("ambiguous_head", said);
    let listed = place.json(&["head", "list"]);
    assert_eq!(listed["heads"].as_array().unwrap().len(), 2);
}

/// Copies each file below `folder` that is named after the head `from` to one of the head `to`.
fn copy_record(folder: &Path, from: &str, to: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            copy_record(&path, from, to);
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.contains(from) {
            let record = text(&path)
                .replace(from, to)
                .replace("\"first\"", "\"second\"");
            std::fs::write(path.with_file_name(name.replace(from, to)), record).unwrap();
        }
    }
}

#[test]
fn a_head_whose_folder_is_gone_or_replaced_is_refused() {
    let place = Place::new();
    let (_, folder) = changed(&place, "feature");
    let away = place.repository.beside("away");
    std::fs::rename(&folder, &away).unwrap();
    insta::assert_snapshot!("folder_gone", place.refused(&["head", "status", "feature"]));
    std::fs::create_dir(&folder).unwrap();
    insta::assert_snapshot!(
        "folder_replaced",
        place.refused(&["head", "diff", "feature"])
    );
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none());
    std::fs::remove_dir(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(place.json(&["head", "status", "feature"])["dirty"], true);
}
