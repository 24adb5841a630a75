use serde_json::json;

use super::*;
use crate::testing::Session;

fn session() -> Session {
    Session::new()
        .user("Please set up the application's YAML under /etc and check invoice INV-2025-08-44719.")
        .calls(
            "write_file",
            json!({"path": "/etc/app/conf.yaml", "content": "port: 8080\nhost: example.org"}),
        )
        .gets("written, 27 bytes")
        .says("The application is configured, and the invoice is paid. ".repeat(20).as_str())
}

fn admitted(text: &str) -> Result<Admission, AdmissionFault> {
    admitted_over(&session(), text)
}

fn admitted_over(session: &Session, text: &str) -> Result<Admission, AdmissionFault> {
    let atoms = session.atoms();
    let atoms: Vec<_> = atoms.iter().map(|(_at, atoms)| atoms.as_slice()).collect();
    admit(text, &SummarySources { spans: &session.texts(), atoms: &atoms, summaries: &[] })
}

#[test]
fn a_summary_that_shares_a_detail_or_its_words_is_admitted() {
    for text in [
        "Wrote /etc/app/conf.yaml.",
        "Configured the application's YAML.",
        "INV-2025-08-44719 is paid",
        "The agent configured the application; the invoice was paid without an error.",
    ] {
        assert_eq!(admitted(text), Ok(Admission { degraded: false }), "{text}");
    }
}

#[test]
fn a_text_without_words_is_empty_whatever_fills_it() {
    for text in ["", "  \n\t", "---", "\u{200b}\u{feff}", "**…**", "\u{0}\u{1}"] {
        assert_eq!(admitted(text), Err(AdmissionFault::Empty), "{text:?}");
    }
}

#[test]
fn an_error_message_is_no_summary_however_it_is_dressed() {
    for text in [
        "[Compactor] failed: 'NoneType' object has no attribute 'content'",
        "Error: rate limit exceeded for /etc/app/conf.yaml",
        "I don't see any events provided.",
        "I don’t see any events in INV-2025-08-44719 to summarize; please provide the transcript.",
        "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
        "{\"error\": {\"message\": \"context_length_exceeded\"}}",
        "> **Error**: timeout",
        "Traceback (most recent call last):\n  File \"x.py\"\nValueError: application configured",
        "openai.RateLimitError: Error code: 429",
        "None",
        "null",
        "I'm sorry, but I can't assist with that application.",
    ] {
        assert_eq!(admitted(text), Err(AdmissionFault::ErrorMessage), "{text}");
    }
}

#[test]
fn a_summary_that_tells_of_errors_is_admitted() {
    for text in [
        "The first write of /etc/app/conf.yaml failed with an error; the second one worked.",
        "Errors in the application's YAML were configured away.",
        "No error came up while the application was configured.",
        "Asked: I'm sorry, but I have no invoice number. Told: the application is configured.",
        "Timeout of the application raised in /etc/app/conf.yaml.",
    ] {
        assert_eq!(admitted(text), Ok(Admission { degraded: false }), "{text}");
    }
}

#[test]
fn a_greeting_or_a_text_about_something_else_is_unrelated() {
    for text in [
        "Hello! How can I help you today?",
        "Hi there, I'd be happy to assist. What would you like me to do?",
        "The weather in Paris was sunny and the museum opened at nine.",
        "1 2 3",
        "Summary: the user asked the assistant and the assistant provided help.",
    ] {
        assert_eq!(admitted(text), Err(AdmissionFault::Unrelated), "{text}");
    }
}

#[test]
fn a_text_larger_than_its_sources_and_a_text_without_sources_are_refused() {
    assert_eq!(
        admitted(&"The application is configured. ".repeat(200)),
        Err(AdmissionFault::LargerThanSources)
    );
    let none = SummarySources { spans: &[], atoms: &[], summaries: &[] };
    assert_eq!(admit("Wrote /etc/app/conf.yaml.", &none), Err(AdmissionFault::NoSources));
}

#[test]
fn a_verbatim_prefix_is_admitted_as_degraded() {
    for text in [
        "Please set up the application's YAML under /etc and check",
        "user: Please set up the application's YAML under /etc…",
        "Please set up  the\napplication's YAML [truncated]",
    ] {
        assert_eq!(admitted(text), Ok(Admission { degraded: true }), "{text}");
    }
}

#[test]
fn covered_summaries_are_sources_too() {
    let sources = SummarySources {
        spans: &[],
        atoms: &[],
        summaries: &["The agent configured the application in /etc/app/conf.yaml and left."],
    };
    assert_eq!(admit("Configured the application.", &sources), Ok(Admission { degraded: false }));
    assert_eq!(admit("The agent configured the", &sources), Ok(Admission { degraded: true }));
    assert_eq!(admit("Something about penguins.", &sources), Err(AdmissionFault::Unrelated));
}

#[test]
fn writing_without_spaces_is_compared_by_its_characters() {
    let session =
        Session::new().user("请在配置文件中修改端口号,然后重启服务器,最后检查日志文件是否有错误信息。");
    assert_eq!(admitted_over(&session, "修改端口号并重启服务器"), Ok(Admission { degraded: false }));
    assert_eq!(admitted_over(&session, "今天天气很好"), Err(AdmissionFault::Unrelated));
}

proptest::proptest! {
    #[test]
    fn no_more_of_the_sources_is_read_than_tells_whether_a_text_is_their_beginning(
        pieces in proptest::collection::vec("[a-cA-C ß…İ\n-]{0,12}|truncated|[-. ]{0,3}truncated[.]{0,2}", 0..6),
        len in 0_usize..40,
    ) {
        let whole = squeeze(&pieces.concat());
        let read = beginning(pieces.iter().cloned(), len);
        proptest::prop_assert!(read.len() >= len.min(whole.len()));
        for end in (0..=len.min(whole.len())).filter(|end| whole.is_char_boundary(*end)) {
            proptest::prop_assert!(read.starts_with(&whole[..end]));
        }
        if whole.len() < len {
            proptest::prop_assert_eq!(read, whole);
        }
    }
}
