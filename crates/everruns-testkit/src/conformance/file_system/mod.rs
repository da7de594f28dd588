//! What every [`SessionFileSystem`](everruns_core::file_system::SessionFileSystem) guarantees, wrappers included.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use everruns_core::file_system::SessionFileSystem;
//! # fn my_file_system(_: &std::path::Path) -> Arc<dyn SessionFileSystem> { unimplemented!() }
//! use everruns_testkit::conformance::file_system::{self, Options, Subject};
//!
//! # async fn test() {
//! file_system::check(Options::default(), || async {
//!     let folder = tempfile::tempdir().expect("a temporary folder can be made");
//!     Subject::new(my_file_system(folder.path())).keeping(folder)
//! })
//! .await;
//! # }
//! ```

mod cancellation;
mod concurrency;
mod folders;
mod git_internal;
mod glob;
mod grep;
mod link_texts;
mod links;
mod listing;
mod modes;
mod names;
mod options;
mod preconditions;
mod reading;
mod removing;
mod renaming;
mod resolving;
mod search_bounds;
mod subject;
mod writing;

pub use options::Options;
pub use subject::Subject;

use crate::check::{self, Check, Report};

const CHECKS: &[Check<Subject>] = checks![
    reading::{
        missing_is_not_found, folder_is_not_a_file, through_a_file_is_refused, ranges_are_clipped,
        ranges_carry_the_whole_version, host_path_leads_to_the_bytes,
    },
    writing::{
        reads_back, version_is_the_content_hash, missing_folders_are_made, replaces_the_whole_content,
        empty_files, binary_bytes, text_is_kept_byte_for_byte, large_content, folder_is_refused,
        below_a_file_is_refused, top_folder_is_refused, deep_paths,
    },
    preconditions::{
        absent_creates, absent_refuses_an_existing_file, matches_replaces, matches_refuses_another_version,
        matches_refuses_a_missing_file, remove_honours_them, a_conflict_changes_nothing,
    },
    folders::{
        create_dir_makes_parents, create_dir_is_idempotent, create_dir_over_a_file_is_refused,
        stat_tells_kind_and_size, stat_of_nothing_is_not_found, top_folder_is_a_folder,
    },
    listing::{
        empty_top_folder, pages_are_sorted_and_complete, a_limit_of_zero_counts_as_one,
        after_a_name_that_is_gone, missing_is_not_found, file_is_refused, entries_tell_kind_and_size,
    },
    removing::{
        file, missing_is_not_found, empty_folder, full_folder_is_refused, recursive, recursive_on_a_file,
        top_folder_is_refused,
    },
    renaming::{
        file, folder_with_content, missing_is_not_found, never_refuses_an_existing_file,
        file_replaces_a_file, a_version_that_matches_is_replaced, another_version_is_kept, folders_are_never_replaced, into_itself_is_refused, missing_folders_are_made,
    },
    modes::{
        what_is_held_is_told, refused_where_there_are_none, set_cleared_and_kept, a_conflict_changes_no_mode,
        moved_with_the_file,
    },
    links::{
        refused_where_there_are_none, are_entries_of_their_own, missing_folders_are_made, lead_to_their_target,
        stay_links_when_their_target_is_written, may_lead_nowhere, an_existing_entry_is_kept, a_file_is_replaced,
        a_link_is_replaced_and_not_its_target, only_the_version_named_is_replaced, a_folder_is_never_replaced,
        are_moved_and_removed_themselves, only_links_have_a_text,
    },
    link_texts::{
        are_kept_byte_for_byte, that_leave_the_tree_are_refused, that_enter_the_git_folder_are_refused,
        links_below_the_git_folder_are_refused,
    },
    resolving::{ identities_tell_entries_apart,plain_paths_are_themselves, missing_paths_are_kept, git_internal_is_refused},
    git_internal::{
        reading_is_refused, writing_is_refused, removing_is_refused, renaming_is_refused,
        searching_is_refused, is_never_listed, neighbours_are_allowed,
    },
    names::{special_names_are_kept_exactly, normalisation_twins_are_distinct, the_longest_name},
    concurrency::{
        one_writer_wins_per_version, one_creator_wins, readers_see_whole_versions,
        different_files_do_not_disturb_each_other,
    },
    cancellation::{dropped_write, dropped_create, dropped_rename, dropped_remove, dropped_search},
    glob::{
        names_at_any_depth, slashes_are_literal, relative_to_the_folder, results_are_in_order,
        hidden_only_when_asked, filter_is_asked, ignore_files, invalid_pattern, missing_folder,
    },
    grep::{
        lines_and_numbers, fixed_text, ignore_case, globs_narrow, context_lines, multiline, binary_is_passed_over,
        files_alone, counts_alone,
        invalid_utf8_is_replaced, invalid_pattern, hidden_only_when_asked, filter_is_asked, ignore_files,
    },
    search_bounds::{
        ends_with_one_summary, match_limit_is_continuable, grep_is_continuable, a_file_with_too_many_lines_is_continuable, long_lines_are_cut, a_match_far_in_a_long_line_is_shown,
        large_files_are_passed_over, byte_limit_truncates,
    },
];

/// Runs all checks on subjects that `make` makes, each fresh and empty, and panics with what failed.
///
/// # Panics
/// When a check fails; the message names each.
pub async fn check<F, Fut, S>(options: Options, make: F)
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = S> + Send,
    S: Into<Subject>,
{
    report(options, make).await.assert_passed();
}

/// Runs all checks as [`check()`] does, and tells what it found.
pub async fn report<F, Fut, S>(options: Options, make: F) -> Report
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = S> + Send,
    S: Into<Subject>,
{
    let (options, make) = (&options, &make);
    check::run("file system", CHECKS, &options.selection, || async move {
        make().await.into().with_options(options.clone())
    })
    .await
}
