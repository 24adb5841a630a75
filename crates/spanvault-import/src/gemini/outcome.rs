//! What Gemini CLI, and programs that grew out of it, say about the fate of a call.

use spanvault_types::Outcome;

/// The tool that runs commands.
const SHELL: &str = "run_shell_command";
/// How the lines begin with which that tool ends what it says.
const SHELL_ENDS: [&str; 4] = ["Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
/// How the answer to a call begins that was cancelled.
const CANCELLED: &str = "[Operation Cancelled]";
/// What stands in the result of a call that the user did not let run.
const NOT_ALLOWED: &str = "User did not allow tool call";

/// Completes a result whose call ended with this status.
pub(crate) fn complete(outcome: &mut Outcome, status: &str) {
    if matches!(status, "error" | "cancelled") {
        outcome.is_error = Some(true);
    }
    if status == "cancelled" && outcome.text.contains(NOT_ALLOWED) {
        outcome.executed = Some(false);
    }
    if outcome.tool.as_deref() == Some(SHELL) {
        outcome.exit_code = shell_exit_code(&outcome.text);
    }
}

/// The same where only the answer is left, as the API takes it.
pub(super) fn complete_without_status(outcome: &mut Outcome) {
    let was_cancelled = outcome.is_error == Some(true) && outcome.text.starts_with(CANCELLED);
    complete(outcome, if was_cancelled { "cancelled" } else { "" });
}

/// The exit code in the lines that end what the shell tool says; above them stands what the command printed.
fn shell_exit_code(text: &str) -> Option<i64> {
    let ends = text.trim_end().rsplit('\n');
    ends.take_while(|line| SHELL_ENDS.iter().any(|label| line.starts_with(label)))
        .find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}
