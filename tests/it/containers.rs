//! Packed transcripts: what is in them is read, and the file comes back byte for byte.

use std::io::Write;

use crate::cli_harness::Sandbox;
use crate::cli_story::story;

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn restored(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    let back = sandbox.path("back");
    sandbox.ok(&["restore", file, "-o", back.to_str().unwrap()]);
    std::fs::read(back).unwrap()
}

#[test]
fn i76_a_packed_transcript_is_read_and_comes_back_as_it_was_packed() {
    for (name, pack) in [("s.jsonl.zst", zstd as fn(&[u8]) -> Vec<u8>), ("s.jsonl.gz", gzip)] {
        let sandbox = Sandbox::new();
        let plain = sandbox.write("plain.jsonl", story());
        let whole = std::fs::read(&plain).unwrap();
        let file = sandbox.write(name, pack(&whole));
        let (file, plain) = (file.to_str().unwrap(), plain.to_str().unwrap());
        let line = sandbox.json_one(&["ingest", file]);
        assert_eq!(line["format"], "claude_code");
        assert!(line["container"] == "zstd" || line["container"] == "gzip");
        let spans = line["spans_new"].as_u64().unwrap();
        assert!(spans > 10);
        assert!(restored(&sandbox, file) == std::fs::read(file).unwrap(), "{name}");
        let listed = sandbox.json(&["spans", "--source", name]);
        assert_eq!(listed.len() as u64, spans);
        assert_eq!(listed[0]["source"], file);
        // Again is a no-op, and so is the same transcript as it was before it was packed.
        let again = sandbox.json_one(&["ingest", file]);
        assert_eq!((again["spans_new"].as_u64(), again["bytes_new"].as_u64()), (Some(0), Some(0)));
        let beside = sandbox.json_one(&["ingest", plain]);
        assert_eq!((beside["spans_new"].as_u64(), beside["spans_known"].as_u64()), (Some(0), Some(spans)));
        assert!(restored(&sandbox, plain) == whole);
        // A packed file that was written again with more in it adds what is new.
        let more = r#"{"type":"user","uuid":"later","sessionId":"story","message":{"role":"user","content":"more"}}"#;
        sandbox.write(name, pack(&[&whole, more.as_bytes(), b"\n"].concat()));
        assert_eq!(sandbox.json_one(&["ingest", file])["spans_new"], 1);
        assert!(restored(&sandbox, file) == std::fs::read(file).unwrap());
    }
}

#[test]
fn questions_about_a_packed_transcript_are_answered_from_it() {
    let sandbox = Sandbox::new();
    let whole = std::fs::read(sandbox.write("story.jsonl", story())).unwrap();
    let packed = sandbox.write("only.jsonl.zst", zstd(&whole));
    sandbox.json_one(&["ingest", packed.to_str().unwrap()]);
    let count = sandbox.json_one(&[
        "ask",
        "--query",
        r#"{"in":{"source":"only.jsonl.zst"},"calls":{},"get":"count"}"#,
    ]);
    assert_eq!(count["answer"], "present");
    assert_eq!(count["coverage"]["complete"], true, "{count}");
    assert!(count["value"].as_u64().unwrap() > 5);
    sandbox.ok(&["verify", "--read-data"]);
}

#[test]
fn each_transcript_of_an_archive_is_a_session_and_the_rest_is_kept_with_it() {
    let sandbox = Sandbox::new();
    let chat = |text: &str| format!(r#"{{"id":1,"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    let archive = zip(&[
        ("samples/1.json", chat("one").as_bytes()),
        ("samples/2.json", chat("two").as_bytes()),
        ("header.json", br#"{"version":2}"#),
        ("empty.json", b""),
    ]);
    let file = sandbox.write("log.eval", &archive);
    let line = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    assert_eq!(line["container"], "zip");
    assert_eq!(line["sessions"], serde_json::json!(["log/samples/1.json", "log/samples/2.json"]));
    assert!(restored(&sandbox, "log.eval") == archive);
    let spans = sandbox.json(&["spans", "--source", "log.eval"]);
    assert_eq!((&spans[1]["record"], &spans[1]["index"]), (&"/samples/2.json".into(), &0.into()));
}

#[test]
fn a_bomb_and_a_torn_container_are_refused_and_nothing_is_recorded() {
    let sandbox = Sandbox::new();
    let torn = zstd(&std::fs::read(sandbox.write("story.jsonl", story())).unwrap());
    let cases = [
        ("bomb.jsonl.zst", zstd(&vec![b' '; 80 << 20]), "holds more than"),
        ("torn.jsonl.zst", torn[..torn.len() / 2].to_vec(), "damaged or cut off"),
        (
            "pictures.zip",
            zip(&[("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\0"), ("b.txt", b"words")]),
            "is a transcript",
        ),
    ];
    for (name, bytes, what) in cases {
        let file = sandbox.write(name, bytes);
        let ran = sandbox.run(&["--json", "ingest", file.to_str().unwrap()]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        assert!(ran.error()["error"].as_str().unwrap().contains(what), "{}", ran.err);
        assert_eq!(sandbox.json(&["sessions"]).len(), 0);
    }
}
