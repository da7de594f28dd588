use everruns_core::model::{ModelError, ModelErrorKind};
use url::Url;

/// The URL that the paths of an API are put behind.
#[derive(Clone, Debug)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    /// Takes an `http` or `https` URL without credentials. A slash at its end makes no difference.
    pub(crate) fn parse(text: &str) -> Result<Self, ModelError> {
        let mut url = Url::parse(text.trim())
            .map_err(|error| configuration(&format!("is no URL: {error}")).with_source(error))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(configuration(
                "must begin with http:// or https:// and a host",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(configuration("must not hold a user name or password"));
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The URL of `path` below this one; a query stays.
    pub(crate) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }

    /// Whether the path ends with `segment`.
    #[cfg(feature = "anthropic")]
    pub(crate) fn ends_with(&self, segment: &str) -> bool {
        self.0
            .path_segments()
            .and_then(|mut segments| segments.next_back())
            == Some(segment)
    }

    /// Whether it names this machine, which no proxy is asked to reach.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

fn configuration(problem: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Configuration,
        format!("the base URL {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_with_and_without_a_slash() {
        for base in ["http://h:1/v1", "http://h:1/v1/", " http://h:1/v1// "] {
            assert_eq!(
                BaseUrl::parse(base).unwrap().join("a/b").as_str(),
                "http://h:1/v1/a/b"
            );
        }
        assert_eq!(
            BaseUrl::parse("https://h").unwrap().join("a").as_str(),
            "https://h/a"
        );
        assert_eq!(
            BaseUrl::parse("https://h/x?v=1#f")
                .unwrap()
                .join("a")
                .as_str(),
            "https://h/x/a?v=1"
        );
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_repeating_it() {
        for base in [
            "",
            "h/v1",
            "ftp://h",
            "file:///x",
            "https://me:secret@h/v1",
            "http://",
        ] {
            let error = BaseUrl::parse(base).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration, "{base}");
            assert!(!format!("{error} {error:?}").contains("secret"));
        }
    }

    #[test]
    fn this_machine_is_known() {
        for (base, loopback) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]/", true),
            ("http://localhost", true),
            ("http://localhost.example.org", false),
        ] {
            assert_eq!(
                BaseUrl::parse(base).unwrap().is_loopback(),
                loopback,
                "{base}"
            );
        }
    }
}
