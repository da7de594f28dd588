use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use everruns_core::model::ToolSpec;

use super::BuildError;
use crate::tool_api::Tool;

/// The longest tool name, in characters.
const MAX_TOOL_NAME: usize = 64;

/// The tools of an agent by name, with their specs read once.
#[derive(Default)]
pub(crate) struct ToolSet {
    tools: BTreeMap<String, (ToolSpec, Arc<dyn Tool>)>,
    /// The specs in the order of the names, shared by all requests.
    specs: Arc<[ToolSpec]>,
    /// The names of the framework's own tools, which reach files through the session's stack and nothing else.
    file_tools: BTreeSet<String>,
}

impl ToolSet {
    /// The file tools, when they are compiled in, and `own` ones beside them.
    pub(crate) fn new(own: Vec<Arc<dyn Tool>>) -> Result<Self, BuildError> {
        let mut set = Self::default();
        #[cfg(feature = "tools")]
        for tool in crate::tools::file_tools() {
            let spec = tool.spec();
            set.tools.insert(spec.name.clone(), (spec, tool));
        }
        set.file_tools = set.names().into_iter().collect();
        for tool in own {
            let spec = tool.spec();
            check_name(&spec.name)?;
            if !spec.input_schema.is_object() {
                return Err(BuildError::InvalidTool {
                    name: spec.name,
                    reason: "its input schema is not an object",
                });
            }
            if set.file_tools.contains(&spec.name) {
                return Err(BuildError::ReservedToolName { name: spec.name });
            }
            if set.tools.contains_key(&spec.name) {
                return Err(BuildError::DuplicateTool { name: spec.name });
            }
            set.tools.insert(spec.name.clone(), (spec, tool));
        }
        set.specs = set.tools.values().map(|(spec, _)| spec.clone()).collect();
        Ok(set)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// Whether a call of this tool cannot change any file. A tool that is not known does nothing.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.get(name).is_none_or(Tool::is_read_only)
    }

    /// Whether a call of this tool changes files through the session's file stack alone, if at all.
    pub(crate) fn is_confined_to_files(&self, name: &str) -> bool {
        self.only_reads(name) || self.file_tools.contains(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|(_, tool)| tool)
    }
}

fn check_name(name: &str) -> Result<(), BuildError> {
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_TOOL_NAME {
        "it has more than 64 characters"
    } else if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    {
        "it holds something else than letters, digits, `_` and `-`"
    } else {
        return Ok(());
    };
    Err(BuildError::InvalidTool {
        name: name.to_owned(),
        reason,
    })
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
