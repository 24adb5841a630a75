//! The evidential class of spans, and the class as the gate reads it.

use spanvault_types::{EvidentialClass, SpanContent};

use crate::{CallEffect, Effect, PairedCall};

/// The class of a call and of its result. An opaque call is side-effecting unless it is a known check.
pub fn class_of_call(effect: &CallEffect) -> EvidentialClass {
    match effect.effect {
        Effect::Reads => EvidentialClass::Structured,
        Effect::Opaque if effect.is_check => EvidentialClass::Structured,
        Effect::Mutates | Effect::External | Effect::Opaque => EvidentialClass::SideEffecting,
    }
}

/// The class of every span of a record; `calls` is what [`crate::pair`] gave for it.
pub fn classes(spans: &[&SpanContent], calls: &[PairedCall]) -> Vec<EvidentialClass> {
    let _ = calls;
    vec![EvidentialClass::SideEffecting; spans.len()]
}

/// The class as the gate reads it: a narrative span that holds a detail (an atom, a denial) or a promise is
/// read as structured.
pub fn as_read_by_gate(class: EvidentialClass, holds_detail: bool, promises: bool) -> EvidentialClass {
    if holds_detail || promises { class.max(EvidentialClass::Structured) } else { class }
}
