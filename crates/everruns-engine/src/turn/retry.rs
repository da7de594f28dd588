use std::time::Duration;

use everruns_core::entropy::Entropy;
use everruns_core::model::ModelError;

/// How often a model is asked for one answer.
const ATTEMPTS: u32 = 5;
/// The wait after the first failure; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait of our own choice.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// The longest wait that a provider may ask for before the turn fails instead.
const LONGEST_ASKED: Duration = Duration::from_mins(2);

/// How long to wait before the model is asked again after `attempt` failures; `None` to give up.
pub(super) fn wait(error: &ModelError, attempt: u32, entropy: &dyn Entropy) -> Option<Duration> {
    if !error.is_retryable() || attempt >= ATTEMPTS {
        return None;
    }
    let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 1));
    let own = spread(doubled.min(LONGEST_WAIT), entropy);
    match error.retry_after {
        Some(asked) if asked > LONGEST_ASKED => None,
        Some(asked) => Some(asked.max(own)),
        None => Some(own),
    }
}

/// Between three quarters and all of `wait`, so that many sessions do not ask at the same moment.
fn spread(wait: Duration, entropy: &dyn Entropy) -> Duration {
    let mut byte = [0_u8];
    entropy.fill(&mut byte);
    wait * 3 / 4 + wait * u32::from(byte[0]) / (4 * 255)
}

#[cfg(test)]
mod tests {
    use everruns_core::entropy::SystemEntropy;
    use everruns_core::model::ModelErrorKind;

    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let error = ModelError::new(ModelErrorKind::Unavailable, "down");
        let first = wait(&error, 1, &SystemEntropy).unwrap();
        assert!(first >= FIRST_WAIT * 3 / 4 && first <= FIRST_WAIT);
        assert!(wait(&error, 3, &SystemEntropy).unwrap() > first);
        assert_eq!(wait(&error, ATTEMPTS, &SystemEntropy), None);
    }

    #[test]
    fn the_provider_may_ask_for_a_wait_within_reason() {
        let error = ModelError::new(ModelErrorKind::RateLimited, "slow down");
        let asked = |seconds| {
            ModelError::new(ModelErrorKind::RateLimited, "slow down")
                .with_retry_after(Duration::from_secs(seconds))
        };
        assert_eq!(
            wait(&asked(30), 1, &SystemEntropy),
            Some(Duration::from_secs(30))
        );
        assert_eq!(wait(&asked(3600), 1, &SystemEntropy), None);
        assert!(wait(&error, 1, &SystemEntropy).is_some());
        let refused = ModelError::new(ModelErrorKind::Authentication, "no");
        assert_eq!(wait(&refused, 1, &SystemEntropy), None);
    }
}
