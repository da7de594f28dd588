/// Ends the check with a failure unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err($crate::check::Failure::new(format!($($what)+)));
        }
    };
}

/// Ends the check with a failure that shows both values unless they are equal.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($what:tt)+) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if *found != *expected {
                    return Err($crate::check::Failure::new(format!(
                        "{}: found {found:?}, expected {expected:?}",
                        format!($($what)+)
                    )));
                }
            }
        }
    };
}

/// Ends the check with a failure unless the result is an error of this pattern.
macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?, $($what:tt)+) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => {
                return Err($crate::check::Failure::new(format!(
                    "{}: found {:?}, expected the error {}",
                    format!($($what)+),
                    other.map(|_| "success"),
                    stringify!($pattern $(if $guard)?)
                )));
            }
        }
    };
}

/// A table of checks named after their functions.
macro_rules! checks {
    ($($module:ident :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        &[$($($crate::check::Check {
            name: concat!(stringify!($module), "::", stringify!($name)),
            run: |subject| Box::pin($module::$name(subject)),
        }),+),+]
    };
}
