//! The file that adds tools: its JSON, and where in it a name stands.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::Tool;

/// The version of the file that this program reads.
pub(super) const VERSION: u32 = 1;

/// What stands in a file that adds tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Added {
    #[serde(rename = "version")]
    _version: Version,
    #[serde(default, rename = "about")]
    _about: Option<String>,
    /// By name: what a tool does.
    #[serde(default)]
    pub(super) tools: Named<Tool>,
    /// By name of an MCP server: its answer to `tools/list`.
    #[serde(default)]
    pub(super) mcp: Named<McpServer>,
}

/// The version, checked where it stands so that an error names its line.
#[derive(Debug)]
pub(super) struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = u32::deserialize(deserializer)?;
        if version == VERSION {
            return Ok(Self);
        }
        Err(D::Error::custom(format!("version {version} is not known; this program reads version {VERSION}")))
    }
}

/// What a server says of its tools; whatever else it says is left out.
#[derive(Debug, Deserialize)]
pub(super) struct McpServer {
    pub(super) tools: Vec<McpTool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct McpTool {
    pub(super) name: String,
    #[serde(default)]
    pub(super) annotations: Annotations,
}

/// The hints of the Model Context Protocol that say what a tool does. A server may leave each out.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Annotations {
    pub(super) read_only_hint: Option<bool>,
    pub(super) destructive_hint: Option<bool>,
}

/// The fields of an object, each of which must stand in it once.
#[derive(Debug)]
pub(super) struct Named<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with names as fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut named: Vec<(String, T)> = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if named.iter().any(|(known, _value)| *known == name) {
                        map.next_value::<IgnoredAny>()?;
                        return Err(A::Error::custom(format!("`{name}` stands here a second time")));
                    }
                    named.push((name, map.next_value()?));
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(Fields(std::marker::PhantomData))
    }
}

/// The line of `text` on which the field `name` first stands, counted from 1.
pub(super) fn line_of(text: &str, name: &str) -> usize {
    let quoted = serde_json::Value::from(name).to_string();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(&quoted)) {
        let end = from + at + quoted.len();
        let is_field = text.get(end..).is_some_and(|rest| rest.trim_start().starts_with(':'));
        if is_field {
            return text.get(..end).map_or(1, |before| before.matches('\n').count() + 1);
        }
        from = end;
    }
    1
}
