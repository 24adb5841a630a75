//! Runs of `AgentDojo`: an object with the suite, the tasks and the attack, and the `messages` of the run.
//!
//! Ids of calls are null, empty, left out or used again, so a result also says which tool it answers: every
//! result repeats its call.

#[cfg(test)]
mod tests;

use spanvault_types::{PartBody, Role};

use crate::blocks::usable_id;
use crate::chat::{MESSAGES, read_message};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// One run (`runs/<model>/<suite>/<task>/<attack>/<injection>.json`).
pub(crate) struct AgentDojo;

impl ObjectFormat for AgentDojo {
    const NAME: &'static str = "agentdojo";
    const LAYOUT: Layout = Layout::Document(MESSAGES);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let marks = ["suite_name", "pipeline_name", "user_task_id"];
        match head.document() {
            Some(run) if marks.iter().all(|mark| run.get(mark).is_some()) => Confidence::Certain,
            Some(_) | None => Confidence::No,
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        let mut content = read_message(message);
        if content.role == Role::Tool
            && let Some(call) = message.field("tool_call")
        {
            let [tool, id] = call.fields(["function", "id"]);
            for part in &mut content.parts {
                if let PartBody::Result(outcome) = &mut part.body {
                    outcome.call_id = outcome.call_id.take().or_else(|| usable_id(id));
                    outcome.tool = outcome.tool.take().or_else(|| usable_id(tool));
                }
            }
        }
        Reading { content, session: None }
    }
}
