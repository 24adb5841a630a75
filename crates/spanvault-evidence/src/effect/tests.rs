use serde_json::{Value, json};
use spanvault_types::Call;

use super::*;

fn read(tool: &str, args: Value) -> CallEffect {
    effect_of(&Call { id: None, tool: tool.into(), args }, Registry::built_in())
}

fn effect(tool: &str) -> Effect {
    read(tool, json!({})).effect
}

#[test]
fn known_tools_are_read_by_the_registry_with_the_paths_that_they_touch() {
    let edit = read("Edit", json!({"file_path": "/a/b.rs", "old_string": "x", "new_string": "y"}));
    assert_eq!((edit.effect, edit.writes), (Effect::Mutates, vec!["/a/b.rs".to_owned()]));
    let grep = read("Grep", json!({"pattern": "x", "path": "/src"}));
    assert_eq!((grep.effect, grep.paths, grep.writes), (Effect::Reads, vec!["/src".to_owned()], vec![]));
    let moved = read("mcp__files__move_file", json!({"source": "/a", "destination": "/b"}));
    assert_eq!(moved.writes, ["/a", "/b"]);
    let several = read("read_multiple_files", json!({"paths": ["/a", "/b"]}));
    assert_eq!((several.effect, several.paths), (Effect::Reads, vec!["/a".to_owned(), "/b".to_owned()]));
}

#[test]
fn an_argument_can_choose_what_a_tool_does() {
    let view = read("str_replace_editor", json!({"command": "view", "path": "/a"}));
    assert_eq!((view.effect, view.writes.len()), (Effect::Reads, 0));
    let create = read("str_replace_editor", json!({"command": "create", "path": "/a"}));
    assert_eq!((create.effect, create.writes), (Effect::Mutates, vec!["/a".to_owned()]));
}

#[test]
fn a_writer_that_does_not_say_where_is_opaque() {
    assert_eq!(read("edit", json!("edit 12:15\nx\nend_of_edit")).effect, Effect::Opaque);
    assert_eq!(read("Write", json!({"content": "x"})).effect, Effect::Opaque);
}

#[test]
fn agents_keep_their_own_state_without_changing_anything() {
    for tool in ["TodoWrite", "TaskUpdate", "update_plan", "think", "ExitPlanMode"] {
        assert_eq!(effect(tool), Effect::Reads, "{tool}");
    }
}

#[test]
fn unknown_names_are_read_by_their_verbs_and_fail_closed() {
    for tool in [
        "get_user",
        "listOrders",
        "mcp__crm__search_contacts",
        "is_open",
        "can_send_mms",
        "get_post",
        "check_sim_status",
    ] {
        assert_eq!(effect(tool), Effect::Reads, "{tool}");
    }
    for tool in [
        "create_ticket",
        "send_money",
        "mcp__crm__contact_delete",
        "issues.close",
        "toggle_data",
        "reset_apn_settings",
    ] {
        assert_eq!(effect(tool), Effect::External, "{tool}");
    }
    for tool in ["frobnicate", "get_or_invent", "check_in", "search_and_frob", "run_job", "", "🦀"] {
        assert_eq!(effect(tool), Effect::Opaque, "{tool}");
    }
    assert_eq!(effect("get_or_create_user"), Effect::External);
    assert_eq!(read("fetch_url", json!({"url": "u", "method": "POST"})).effect, Effect::Opaque);
    let saved = read("save_report", json!({"path": "/r.txt"}));
    assert_eq!((saved.effect, saved.writes), (Effect::Mutates, vec!["/r.txt".to_owned()]));
}

#[test]
fn shell_tools_take_their_command_in_every_known_form() {
    for args in [
        json!({"command": "rm /etc/x"}),
        json!({"cmd": "rm /etc/x"}),
        json!({"command": ["bash", "-lc", "rm /etc/x"]}),
        json!({"command": ["rm", "/etc/x"]}),
        json!({"action": {"command": ["rm", "/etc/x"]}}),
        json!({"command": "rm x", "workdir": "/etc"}),
        json!("rm /etc/x"),
    ] {
        let read = read("shell", args.clone());
        assert_eq!((read.effect, read.writes), (Effect::Mutates, vec!["/etc/x".to_owned()]), "{args}");
    }
    for args in [json!({}), json!({"command": 5}), json!({"command": ["rm", 5]}), json!(null)] {
        assert_eq!(read("shell", args.clone()).effect, Effect::Opaque, "{args}");
    }
}

#[test]
fn a_patch_writes_the_files_that_its_headers_name() {
    let patch =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** End Patch";
    let read_patch = read("apply_patch", json!({"input": patch}));
    assert_eq!(
        (read_patch.effect, read_patch.writes),
        (Effect::Mutates, vec!["src/a.rs".to_owned(), "b.rs".to_owned()])
    );
    assert_eq!(read("apply_patch", json!("garbage")).effect, Effect::Opaque);
}

#[test]
fn statements_are_read_by_what_they_do() {
    assert_eq!(read("query", json!({"sql": "select 1"})).effect, Effect::Reads);
    assert_eq!(read("query", json!({"sql": "drop table t"})).effect, Effect::External);
    assert_eq!(read("query", json!({})).effect, Effect::Opaque);
}

#[test]
fn the_commands_of_swe_agent_are_read_and_its_shell_is_a_shell() {
    let action = |action: &str| read("action", json!({"action": action}));
    assert_eq!(action("ls -F\n").effect, Effect::Reads);
    let opened = action("open src/fields.py 1474\n");
    assert_eq!((opened.effect, opened.paths), (Effect::Reads, vec!["src/fields.py".to_owned()]));
    assert_eq!(action("find_file \"fields.py\" src").paths, ["src"]);
    assert_eq!(action("create reproduce.py").writes, ["reproduce.py"]);
    assert_eq!(action("edit 1:1\nimport x\nend_of_edit").effect, Effect::Opaque);
    assert_eq!(action("rm reproduce.py && submit").writes, ["reproduce.py"]);
    assert_eq!(action("open x; bash y.sh").effect, Effect::Opaque);
    assert_eq!(action("submit").effect, Effect::Reads);
}

#[test]
fn a_place_in_a_name_is_no_second_verb() {
    for looks in ["get_all_companies_in_city", "translate_text", "generate_random_password", "generate_uuid"]
    {
        assert_eq!(effect(looks), Effect::Reads, "{looks}");
    }
    for acts in ["check_in", "check_out_guest", "get_and_frob", "generate_invoice", "look_and_delete"] {
        assert_ne!(effect(acts), Effect::Reads, "{acts}");
    }
}
