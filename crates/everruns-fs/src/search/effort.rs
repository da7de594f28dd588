//! How much work an expression can make, so that no single step of a search takes long.

use std::sync::OnceLock;

use everruns_core::file_system::GrepQuery;
use regex_automata::hybrid::{dfa, regex};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

use super::compile::MAX_REGEX_BYTES;

/// The work of one step that is done without asking whether it may take long: bytes of text times states of the
/// expression. At its worst an engine looks at each state for each byte.
const MAX_UNASKED: u64 = 20_000_000;

/// The most states that a byte of an expression without counted repetitions makes: a class of Unicode.
const MAX_STATES_OF_A_BYTE: u64 = 400;

/// The fewest bytes of text that each state of an automaton must serve, and how many states of the expression the making
/// of one may cost for each byte.
const MIN_BYTES_OF_A_STATE: usize = 10;
const STATES_OF_A_BYTE: usize = 20;

/// The memory that the states of an automaton may take until they are thrown away; a fifth of what a search has, so that
/// it is soon known when they do not serve.
const CACHE_BYTES: usize = 2 << 20;

/// What parts of a text a step may take, in bytes.
const BLOCK: (u64, u64) = (1 << 10, 64 << 10);

/// The effort of one expression.
#[derive(Debug)]
pub(super) struct Effort {
    pattern: String,
    ignore_case: bool,
    /// No more states than these, when that is known without compiling.
    at_most: Option<u64>,
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    automaton: regex::Regex,
    states: u64,
}

/// Where the states are kept that one thread has come to.
pub(super) type Cache = regex::Cache;

impl Effort {
    pub(super) fn of(grep: &GrepQuery) -> Self {
        let pattern = if grep.fixed {
            regex_syntax::escape(&grep.pattern)
        } else {
            grep.pattern.clone()
        };
        let is_counted = !grep.fixed && pattern.contains('{');
        Self {
            at_most: (!is_counted).then(|| pattern.len() as u64 * MAX_STATES_OF_A_BYTE),
            pattern,
            ignore_case: grep.ignore_case,
            compiled: OnceLock::new(),
        }
    }

    /// Whether any step in a text of so many bytes is short.
    pub(super) fn is_small(&self, bytes: usize) -> bool {
        let is_small = |states: u64| states.saturating_mul(bytes as u64) <= MAX_UNASKED;
        self.at_most.is_some_and(is_small) || is_small(self.states())
    }

    /// How many bytes a step should take at once.
    pub(super) fn block(&self) -> usize {
        let (least, most) = BLOCK;
        let block = (MAX_UNASKED / self.states().max(1)).clamp(least, most);
        usize::try_from(block).unwrap_or(usize::MAX)
    }

    fn states(&self) -> u64 {
        self.compiled().map_or(u64::MAX, |compiled| compiled.states)
    }

    /// Whether looking for a match in `text` from `at` on is quick; `with_start` also for where it begins.
    ///
    /// An automaton that is built on the way is quick unless it grows with the text. Then it gives up, and an engine that
    /// looks at each state for each byte would have to take over.
    pub(super) fn is_quick(
        &self,
        cache: &mut Option<Cache>,
        text: &[u8],
        at: usize,
        with_start: bool,
    ) -> bool {
        if self.is_small(text.len() - at) {
            return true;
        }
        let Some(compiled) = self.compiled() else {
            return false;
        };
        let cache = cache.get_or_insert_with(|| compiled.automaton.create_cache());
        let input = regex_automata::Input::new(text).span(at..text.len());
        if with_start {
            return compiled.automaton.try_search(cache, &input).is_ok();
        }
        let forward = compiled.automaton.forward();
        forward.try_search_fwd(cache.forward_mut(), &input).is_ok()
    }

    fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    /// The expression as a search compiles it; `None` when it makes more states than can be told of.
    fn compile(&self) -> Option<Compiled> {
        let syntax = syntax::Config::new()
            .multi_line(true)
            .utf8(false)
            .case_insensitive(self.ignore_case);
        let limits = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(MAX_REGEX_BYTES));
        let build = |bytes_of_a_state: usize| {
            regex::Builder::new()
                .syntax(syntax)
                .thompson(limits.clone())
                .dfa(
                    dfa::Config::new()
                        .cache_capacity(CACHE_BYTES)
                        .skip_cache_capacity_check(true)
                        .unicode_word_boundary(true)
                        .minimum_cache_clear_count(Some(3))
                        .minimum_bytes_per_state(Some(bytes_of_a_state)),
                )
                .build(&self.pattern)
                .ok()
        };
        let states = |automaton: &regex::Regex| automaton.forward().get_nfa().states().len();
        let first = build(MIN_BYTES_OF_A_STATE)?;
        // A state of the automaton costs as much to make as the expression has states.
        let bytes = states(&first) / STATES_OF_A_BYTE;
        let automaton = if bytes > MIN_BYTES_OF_A_STATE {
            build(bytes)?
        } else {
            first
        };
        Some(Compiled {
            states: states(&automaton) as u64,
            automaton,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effort(pattern: &str) -> Effort {
        Effort::of(&GrepQuery::new(pattern))
    }

    #[test]
    fn only_what_explodes_is_slow() {
        let text = "ab".repeat(200_000);
        for quick in [
            "needle",
            r"\w+ needle",
            r"(a*)*c|(a|aa)+$",
            r"(?:a{1,50}){1,50}",
        ] {
            let effort = effort(quick);
            assert!(
                effort.is_quick(&mut None, text.as_bytes(), 0, false),
                "{quick}"
            );
        }
        let mut random = 7_u32;
        let text: Vec<u8> = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 31 == 0 { b'a' } else { b'b' }
        })
        .take(200_000)
        .collect();
        let slow = effort("[ab]*a[ab]{1000}[cd][cd]");
        assert!(!slow.is_quick(&mut None, &text, 0, false));
        assert!(slow.is_quick(&mut None, &text, text.len() - 2_000, false));
        assert!(slow.block() < 30_000);
    }

    #[test]
    fn small_texts_need_no_look_at_the_expression() {
        let effort = effort("line 59 of file 7777 ");
        assert!(effort.is_small(2_000));
        assert!(effort.compiled.get().is_none());
    }
}
