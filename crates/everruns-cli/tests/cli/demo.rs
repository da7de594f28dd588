use crate::support::Place;

#[test]
fn the_demonstration_ends_well_and_leaves_nothing_behind() {
    let place = Place::new();
    let ran = place.run(&["demo"]);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(ran.stderr, "");
    for step in [
        "a repository with work of your own in it",
        "your repository after all that",
        "done: everything above happened, and was checked, just now",
    ] {
        assert!(ran.stdout.contains(step), "{step}: {}", ran.stdout);
    }
    let left: Vec<_> = std::fs::read_dir(place.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["repository"], "the demonstration left something");
}

#[test]
fn the_demonstration_can_be_kept_to_look_around_in() {
    let place = Place::new();
    let printed = place.ok(&["demo", "--keep"]);
    let kept = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("kept "))
        .and_then(|line| line.split(" (").next())
        .unwrap();
    let project = format!("{kept}/project");
    let state = format!("{kept}/state");
    let listed = place.json(&["head", "list", "--repo", &project, "--state", &state]);
    assert!(listed["heads"].as_array().unwrap().len() >= 2, "{listed}");
}
