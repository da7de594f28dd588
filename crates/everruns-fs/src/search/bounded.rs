//! A search in one large text, in steps that are short.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, Read};

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink};

use super::effort::{Cache, Effort};
use super::watch::Watch;

/// Why a text was not searched to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The expression takes too long in it.
    TooSlow,
    /// Time is up, or nobody listens any more.
    Over,
}

/// What a search needs besides its expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    pub(super) effort: &'a Effort,
    pub(super) watch: &'a Watch,
}

/// Searches `bytes` and tells `sink`. A text in which a single step might take long is gone through in small parts, and
/// given up where a step would be long.
pub(super) fn search<S: Sink<Error = io::Error>>(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    bytes: &[u8],
    bounds: Bounds<'_>,
    sink: S,
) -> Result<Option<Unfinished>, io::Error> {
    if bounds.effort.is_small(bytes.len()) {
        return searcher.search_slice(matcher, bytes, sink).map(|()| None);
    }
    let unfinished = Cell::new(None);
    let stepping = Stepping {
        matcher,
        bounds,
        cache: RefCell::new(None),
        unfinished: &unfinished,
    };
    let parts = Parts {
        left: bytes,
        most: bounds.effort.block(),
        watch: bounds.watch,
        unfinished: &unfinished,
    };
    match searcher.search_reader(stepping, parts, sink) {
        Err(_) if unfinished.get().is_some() => Ok(unfinished.get()),
        other => other.map(|()| None),
    }
}

/// Gives a text in parts until the watch is over.
struct Parts<'a> {
    left: &'a [u8],
    most: usize,
    watch: &'a Watch,
    unfinished: &'a Cell<Option<Unfinished>>,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_over() {
            self.unfinished.set(Some(Unfinished::Over));
            return Err(io::ErrorKind::TimedOut.into());
        }
        let most = buffer.len().min(self.most);
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        self.left.read(buffer)
    }
}

/// The expression, asked in steps of which each is known to be short.
struct Stepping<'a> {
    matcher: &'a RegexMatcher,
    bounds: Bounds<'a>,
    cache: RefCell<Option<Cache>>,
    unfinished: &'a Cell<Option<Unfinished>>,
}

/// A step was not made; why is told elsewhere.
#[derive(Debug)]
struct NotMade;

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the search of a text was given up")
    }
}

impl Stepping<'_> {
    /// Refuses a step that might be long.
    fn must_be_short(&self, text: &[u8], at: usize, with_start: bool) -> Result<(), NotMade> {
        let Bounds { effort, watch } = self.bounds;
        let mut cache = self.cache.borrow_mut();
        // Lines are looked at one by one, as no match goes over their end.
        let mut start = at;
        let mut rest = text.get(at..).unwrap_or_default();
        while !effort.is_small(rest.len()) {
            let length = match self.matcher.line_terminator() {
                Some(end) => rest
                    .iter()
                    .position(|&byte| byte == end.as_byte())
                    .map_or(rest.len(), |end| end + 1),
                None => rest.len(),
            };
            let end = start + length;
            let line = text.get(..end).unwrap_or(text);
            if watch.is_over() {
                self.unfinished.set(Some(Unfinished::Over));
                return Err(NotMade);
            }
            if !effort.is_quick(&mut cache, line, start, with_start) {
                self.unfinished.set(Some(Unfinished::TooSlow));
                return Err(NotMade);
            }
            start = end;
            rest = text.get(end..).unwrap_or_default();
        }
        Ok(())
    }
}

impl Matcher for Stepping<'_> {
    type Captures = NoCaptures;
    type Error = NotMade;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NotMade> {
        self.must_be_short(text, at, true)?;
        self.matcher.find_at(text, at).map_err(|_| NotMade)
    }

    fn new_captures(&self) -> Result<NoCaptures, NotMade> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NotMade> {
        self.must_be_short(text, at, false)?;
        self.matcher
            .shortest_match_at(text, at)
            .map_err(|_| NotMade)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NotMade> {
        self.must_be_short(text, 0, false)?;
        self.matcher.find_candidate_line(text).map_err(|_| NotMade)
    }
}
