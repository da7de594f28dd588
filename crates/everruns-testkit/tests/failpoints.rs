//! Armed steps fail, wait and kill; a killed child is told from one that ended otherwise.

use std::panic::catch_unwind;

use everruns_core::failpoint::hit;
use everruns_testkit::failpoints::{
    Child, argument, disarm_all, fail_at, fail_at_nth, is_child, kill_at_nth, pause_at, reached,
};

#[test]
fn a_child_dies_where_it_is_told_to() {
    if is_child() {
        let file = argument("file").unwrap();
        kill_at_nth("test.die", 2);
        hit("test.die").unwrap();
        std::fs::write(&file, "once").unwrap();
        hit("test.die").unwrap();
        std::fs::write(&file, "twice").unwrap();
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let child = Child::of_test("a_child_dies_where_it_is_told_to").argument("file", file.path());
    child.run().assert_killed();
    assert_eq!(std::fs::read(file.path()).unwrap(), b"once");
}

#[test]
fn a_child_that_lives_is_no_killed_one() {
    if is_child() {
        return;
    }
    let outcome = Child::of_test("a_child_that_lives_is_no_killed_one").run();
    outcome.assert_passed();
    assert!(catch_unwind(|| outcome.assert_killed()).is_err());
    let none = Child::of_test("no_such_test").run();
    assert!(catch_unwind(|| none.assert_passed()).is_err());
}

#[test]
fn steps_fail_as_armed() {
    // The registry is the process's, so this runs apart from the other tests.
    if !is_child() {
        return Child::of_test("steps_fail_as_armed").run().assert_passed();
    }
    fail_at("test.always");
    fail_at_nth("test.second", 2);
    assert!(hit("test.always").is_err() && hit("test.always").is_err());
    assert!(hit("test.second").is_ok() && hit("test.second").is_err());
    assert!(hit("test.second").is_ok());
    assert_eq!(reached(), ["test.always", "test.second"]);
    disarm_all();
    assert!(hit("test.always").is_ok());
}

#[test]
fn a_step_waits_until_it_is_resumed() {
    let pause = pause_at("test.wait");
    let thread = std::thread::spawn(|| hit("test.wait").is_ok());
    assert!(pause.wait_until_reached());
    assert!(!thread.is_finished());
    pause.resume();
    assert!(thread.join().unwrap());
}
