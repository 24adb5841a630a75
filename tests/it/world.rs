//! A simulated world for a vault, and small sessions to put in it.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use spanvault::{Options, Session, SpanDraft, Vault};
use spanvault_env::{Env, SimClock, SimDisk, Survival};

/// A machine that can lose power.
pub(crate) struct World {
    pub(crate) env: Env,
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) clock: Arc<SimClock>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let (env, disk, clock) = Env::simulated(seed);
        Self { env, disk, clock }
    }

    pub(crate) fn open(&self) -> spanvault::Result<Vault> {
        Vault::open_with(Path::new("/vault"), Options::simulated(self.env.clone()))
    }

    /// The same machine after every process on it was killed.
    pub(crate) fn after_kill(&self) -> Self {
        let disk = self.disk.restart();
        Self { env: self.env.with_disk(disk.clone()), disk, clock: Arc::clone(&self.clock) }
    }

    /// The same machine after a power cut.
    pub(crate) fn after_crash(&self, survival: Survival) -> Self {
        let disk = self.disk.crash(survival);
        Self { env: self.env.with_disk(disk.clone()), disk, clock: Arc::clone(&self.clock) }
    }
}

/// Records a call and its result.
pub(crate) fn call(session: &Session<'_>, id: &str, tool: &str, args: serde_json::Value, result: &str) {
    session
        .record_all(vec![SpanDraft::tool_call_with_id(id, tool, args), SpanDraft::tool_result(id, result)])
        .expect("recorded");
}

/// A session in which a system file is written early and nothing later speaks of it.
pub(crate) fn story(vault: &Vault) -> Session<'_> {
    let session = vault.session("run-42").expect("a session");
    session
        .record(SpanDraft::user("Please set the service up and look into the slow export."))
        .expect("recorded");
    let args =
        json!({"file_path": "/etc/app/conf.yaml", "content": "listen: 127.0.0.1:8471\npool_size: 2\n"});
    call(&session, "c1", "Write", args, "File created successfully at: /etc/app/conf.yaml");
    session.record(SpanDraft::assistant("The service has its settings now.")).expect("recorded");
    for n in 0..20 {
        let args = json!({"file_path": format!("/srv/export/part-{n}.py")});
        call(
            &session,
            &format!("r{n}"),
            "Read",
            args,
            &format!("def part_{n}():\n    return {}\n", 7 * n + 1_000),
        );
        session.record(SpanDraft::assistant(format!("Part {n} only adds numbers up."))).expect("recorded");
    }
    session
}
