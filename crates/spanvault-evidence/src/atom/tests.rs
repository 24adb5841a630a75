use serde_json::{Value, json};
use spanvault_types::{Call, Encoding, Part, PartBody, Role, SpanKind};

use super::*;

fn of(text: &str, kind: AtomKind) -> Vec<String> {
    atoms_of_text(text).into_iter().filter(|atom| atom.kind == kind).map(|atom| atom.text).collect()
}

fn content(parts: Vec<Part>) -> SpanContent {
    SpanContent { role: Role::Assistant, kind: SpanKind::Message, timestamp_ms: None, event_key: None, parts }
}

/// The part for the first place of `raw` in `original`.
fn part(original: &str, raw: &str, encoding: Encoding, body: PartBody) -> Part {
    let start = original.find(raw).unwrap();
    Part { range: ByteRange { start: start as u64, end: (start + raw.len()) as u64 }, encoding, body }
}

fn result(text: &str) -> PartBody {
    PartBody::Result(Outcome {
        call_id: None,
        tool: None,
        text: text.into(),
        is_error: None,
        exit_code: None,
        executed: None,
    })
}

/// The atoms of one result, by kind and text.
fn in_result(text: &str) -> Vec<(AtomKind, String)> {
    let original = serde_json::to_string(text).unwrap();
    let part = part(&original, &original, Encoding::JsonString, result(text));
    atoms(&content(vec![part]), original.as_bytes()).into_iter().map(|atom| (atom.kind, atom.text)).collect()
}

#[test]
fn details_of_every_kind_are_found_in_words() {
    let text = "On 2025-08-12 invoice INV-2025-08-44719 over $1,024.50 (3 %) was sent to a@b.org; \
        see https://x.y/z, /etc/app/conf.yaml and `main()`. It is not paid: ValueError.";
    let expected = [
        (AtomKind::Timestamp, "2025-08-12"),
        (AtomKind::Identifier, "INV-2025-08-44719"),
        (AtomKind::Number, "$1,024.50"),
        (AtomKind::Number, "3 %"),
        (AtomKind::Identifier, "a@b.org"),
        (AtomKind::Url, "https://x.y/z"),
        (AtomKind::Path, "/etc/app/conf.yaml"),
        (AtomKind::Quotation, "main()"),
        (AtomKind::Negation, "It is not paid"),
        (AtomKind::ErrorKind, "ValueError"),
    ];
    let found: Vec<(AtomKind, String)> =
        atoms_of_text(text).into_iter().map(|atom| (atom.kind, atom.text)).collect();
    assert_eq!(found, expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn equal_details_have_equal_normal_forms() {
    for (one, other) in [
        ("1,024 files", "1024 files"),
        ("$5", "5 dollars"),
        ("./src/main.rs", "src/main.rs"),
        ("src/", "./src/"),
        ("#W6876713", "W6876713"),
        ("HTTPS://Example.COM/x/", "https://example.com/x"),
        ("2025/08/12", "August 12, 2025"),
        ("A@B.org", "a@b.ORG"),
        ("共１２個", "共12個"),
    ] {
        let normals = |text: &str| {
            atoms_of_text(text).into_iter().map(|atom| (atom.kind, atom.normal)).collect::<Vec<_>>()
        };
        assert!(!normals(one).is_empty(), "{one}");
        assert_eq!(normals(one), normals(other), "{one} / {other}");
    }
}

#[test]
fn text_without_spaces_or_latin_letters_yields_its_details() {
    assert_eq!(of("请把文件保存到/tmp/报告.txt，共12个。", AtomKind::Path), ["/tmp/报告.txt"]);
    assert_eq!(of("请把文件保存到/tmp/报告.txt，共12个。", AtomKind::Number), ["12"]);
    assert_eq!(of("彼は「完了」と言った。変更はありません。", AtomKind::Quotation), ["完了"]);
    assert_eq!(of("彼は「完了」と言った。変更はありません。", AtomKind::Negation), ["変更はありません"]);
    assert_eq!(of("🚀 v1.2.3 🎉 100% ✅", AtomKind::Identifier), ["v1.2.3"]);
    assert_eq!(of("🚀 v1.2.3 🎉 100% ✅", AtomKind::Number), ["100%"]);
    assert_eq!(of("Сумма 1 024 € не уплачена", AtomKind::Negation), ["Сумма 1 024 € не уплачена"]);
    assert_eq!(of("2025年8月12日发布", AtomKind::Timestamp), ["2025年8月12日"]);
}

#[test]
fn line_numbers_of_readers_and_greps_are_layout() {
    let numbers = |text: &str| -> Vec<String> {
        in_result(text)
            .into_iter()
            .filter(|(kind, _)| *kind == AtomKind::Number)
            .map(|(_, text)| text)
            .collect()
    };
    assert_eq!(numbers("     1→let a = 7;\n    12→let b = 8;"), ["7", "8"]);
    assert_eq!(numbers("     1\tlet a = 7;\n"), ["7"]);
    assert_eq!(numbers("12:let a = 7;\n13-let b = 8;"), ["7", "8"]);
    assert_eq!(numbers("src/a.rs:12:let a = 7;\nsrc/a.rs-13-let b = 8;"), ["7", "8"]);
    assert_eq!(numbers("@@ -1,5 +1,7 @@ fn x() 9"), ["9"]);
    assert_eq!(in_result("10:42 started").first().map(|(kind, _)| *kind), Some(AtomKind::Timestamp));
    assert_eq!(of("1. buy 3\n2) sell 4", AtomKind::Number), ["3", "4"]);
}

#[test]
fn keys_of_json_output_are_layout_and_their_values_are_not() {
    let found = in_result("{\"order_id\": \"#W1\", \"items\": [\"red\"], \"price\": -43.59}");
    let expected = [
        (AtomKind::Identifier, "#W1"),
        (AtomKind::Quotation, "#W1"),
        (AtomKind::Quotation, "red"),
        (AtomKind::Number, "-43.59"),
    ];
    assert_eq!(found, expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn a_result_says_what_it_did_not_return_and_how_it_ended() {
    assert_eq!(in_result("No matches found"), [(AtomKind::NullResult, "No matches found".to_owned())]);
    let wrapped = in_result("<returncode>1</returncode>\n<output>\n</output>");
    assert!(wrapped.contains(&(AtomKind::ExitCode, "1".to_owned())));
    assert!(wrapped.contains(&(AtomKind::NullResult, String::new())));
    assert_eq!(in_result(""), [(AtomKind::NullResult, String::new())]);
}

/// Decodes the bytes of an atom as its encoding says, up to two literals deep.
fn says(original: &str, atom: &Atom) -> bool {
    let raw = &original[usize::try_from(atom.range.start).unwrap()..usize::try_from(atom.range.end).unwrap()];
    let decode = |raw: &str| serde_json::from_str::<String>(&format!("\"{raw}\"")).ok();
    let once = decode(raw);
    let twice = once.as_deref().and_then(decode);
    raw == atom.text || once.as_deref() == Some(&atom.text) || twice.as_deref() == Some(&atom.text)
}

fn call_with(args: Value) -> Call {
    Call { id: Some("t1".into()), tool: "write_file".into(), args }
}

fn assert_call(original: &str, call: Call) -> Vec<Atom> {
    let whole = part(original, original, Encoding::JsonValue, PartBody::Call(call));
    let found = atoms(&content(vec![whole]), original.as_bytes());
    for atom in &found {
        assert!(says(original, atom), "{atom:?} in {original}");
    }
    found
}

#[test]
fn every_argument_is_an_atom_with_its_bytes_whether_written_as_json_or_as_a_string_of_json() {
    let args = json!({"path": "/etc/app/conf.yaml", "content": "a: \"1\"\nb: é\t7", "opts": {"mode": 420, "tags": ["x", true]}});
    let direct =
        json!({"type": "tool_use", "id": "t1", "name": "write_file", "input": args.clone()}).to_string();
    let nested =
        json!({"id": "t1", "function": {"name": "write_file", "arguments": args.to_string()}}).to_string();
    for original in [direct, nested] {
        let found = assert_call(&original, call_with(args.clone()));
        let arguments: Vec<&str> = found
            .iter()
            .filter(|atom| atom.kind == AtomKind::Argument)
            .map(|atom| atom.normal.as_str())
            .collect();
        for expected in ["/path=/etc/app/conf.yaml", "/opts/mode=420", "/opts/tags/0=x", "/opts/tags/1=true"]
        {
            assert!(arguments.contains(&expected), "{expected} in {arguments:?}");
        }
        assert!(found.iter().any(|atom| atom.kind == AtomKind::Call && atom.text == "write_file"));
        assert!(found.iter().any(|atom| atom.kind == AtomKind::Path && atom.text == "/etc/app/conf.yaml"));
    }
}

#[test]
fn a_result_of_several_blocks_is_found_block_by_block() {
    let original = r#"{"type":"tool_result","content":[{"type":"text","text":"see \"/a/b.rs\""},{"type":"text","text":"id INV-1234 \u00e9"}]}"#;
    let text = "see \"/a/b.rs\"\nid INV-1234 é";
    let found = atoms(
        &content(vec![part(original, original, Encoding::JsonValue, result(text))]),
        original.as_bytes(),
    );
    let texts: Vec<&str> = found.iter().map(|atom| atom.text.as_str()).collect();
    assert_eq!(texts, ["/a/b.rs", "/a/b.rs", "INV-1234"]);
    assert!(found.iter().all(|atom| says(original, atom)));
}

#[test]
fn a_text_that_was_cut_down_is_found_piece_by_piece() {
    for (original, encoding) in
        [("  id 77812 of \"x\"  ", Encoding::Raw), (r#"" id 77812 of \"x\" ""#, Encoding::JsonString)]
    {
        let found = atoms(
            &content(vec![part(original, original, encoding, result("id 77812 of \"x\""))]),
            original.as_bytes(),
        );
        assert!(says(original, &found[0]), "{:?}", found[0]);
    }
}

#[test]
fn what_is_not_found_in_the_bytes_points_to_its_part() {
    let original = "{\"gathered\":\"elsewhere\"}";
    let found = atoms(
        &content(vec![part(original, original, Encoding::JsonValue, result("id 77812"))]),
        original.as_bytes(),
    );
    let whole = ByteRange { start: 0, end: original.len() as u64 };
    assert_eq!(found.iter().map(|atom| atom.range).collect::<Vec<_>>(), [whole]);
}

#[test]
fn a_range_outside_of_the_original_makes_no_atom_point_outside() {
    let stray = Part {
        range: ByteRange { start: 5, end: u64::MAX },
        encoding: Encoding::Raw,
        body: result("id 77812 x"),
    };
    let found = atoms(&content(vec![stray]), b"short");
    assert!(found.iter().all(|atom| atom.range.end <= 5));
}

#[test]
fn a_span_of_plain_words_holds_no_detail() {
    let words = |text: &str| content(vec![part("x", "x", Encoding::Raw, PartBody::Text(text.into()))]);
    assert!(!holds_detail(&words("Good morning, let us begin.")));
    for telling in ["It was 7.", "It is not so.", "See a.rs", "Say \"yes\" please"] {
        assert!(holds_detail(&words(telling)), "{telling}");
    }
}

#[test]
fn hostile_texts_take_linear_time_and_bounded_memory() {
    for unit in [
        "a", "1", "1 ", "1,", "/", "/a", "a/", "\\", "\"", "'", "`", "'a", "\"a", "` ", "a://", "a:\\", "1:",
        "-", "--1", ".", "1.", "@", "a@", "#", "#1", "“", "「", "not ", "没", "e1", "0x", "a_1", "A-1", "\n",
        "\n1", "\n 1:", "   ", "May 1", "12 Aug", "１", "年", "🎉", "=", "(((",
    ] {
        let text = unit.repeat(40_000 / unit.len());
        let found = atoms_of_text(&text);
        assert!(found.len() <= 40_000, "{unit:?}: {}", found.len());
    }
    let brackets = "[".repeat(100_000);
    assert_eq!(atoms_of_text(&brackets).len(), 0);
    let deep = Call { id: None, tool: "x".into(), args: Value::String(brackets.clone()) };
    assert!(!assert_call(&json!({"name": "x", "arguments": brackets}).to_string(), deep).is_empty());
}

fn pieces() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let piece = prop_oneof![
        "[ -~]{0,8}",
        "\\PC{0,4}",
        Just("/etc/app/conf.yaml".to_owned()),
        Just("1,024.50".to_owned()),
        Just("INV-2025-08-44719".to_owned()),
        Just("https://x.y/z?q=1".to_owned()),
        Just("\"quoted\"".to_owned()),
        Just("2025-08-12 10:11:12".to_owned()),
        Just("不是".to_owned()),
        Just("\n   12→".to_owned()),
        Just("é\t\u{0}😀".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}

proptest::proptest! {
    #[test]
    fn every_range_in_a_text_holds_the_atoms_text(text in pieces()) {
        for atom in atoms_of_text(&text) {
            let range = usize::try_from(atom.range.start).unwrap()..usize::try_from(atom.range.end).unwrap();
            proptest::prop_assert_eq!(text.get(range), Some(atom.text.as_str()));
        }
    }

    #[test]
    fn every_range_in_an_original_decodes_to_the_atoms_text(text in pieces(), more in pieces()) {
        // As a string literal, as blocks, as raw text.
        let literal = serde_json::to_string(&text).unwrap();
        let blocks = json!({"content": [{"type": "text", "text": text}, {"type": "text", "text": more}]}).to_string();
        let joined = format!("{text}\n{more}");
        for (original, encoding, text) in [
            (literal, Encoding::JsonString, &text),
            (blocks, Encoding::JsonValue, &joined),
            (text.clone(), Encoding::Raw, &text),
        ] {
            let span = content(vec![part(&original, &original, encoding, result(text))]);
            for atom in atoms(&span, original.as_bytes()) {
                let whole = atom.range == span.parts[0].range;
                proptest::prop_assert!(says(&original, &atom) || (encoding == Encoding::JsonValue && whole), "{:?} in {}", atom, original);
            }
        }
    }

    #[test]
    fn every_range_in_a_call_decodes_to_the_atoms_text(command in pieces(), other in pieces(), number: i64) {
        let args = json!({"command": command, "nested": {"list": [other, number]}});
        let direct = json!({"type": "tool_use", "name": "write_file", "input": args.clone()}).to_string();
        let nested = json!({"function": {"name": "write_file", "arguments": args.to_string()}}).to_string();
        for original in [direct, nested] {
            assert_call(&original, call_with(args.clone()));
        }
    }

    #[test]
    fn reading_twice_gives_the_same_atoms_in_the_order_of_their_start(text in pieces()) {
        let found = atoms_of_text(&text);
        proptest::prop_assert_eq!(&found, &atoms_of_text(&text));
        proptest::prop_assert!(found.is_sorted_by_key(|atom| atom.range.start));
    }
}
