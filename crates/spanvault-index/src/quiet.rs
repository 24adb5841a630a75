//! Panics that are caught here and are nobody's business: the engine's way to say that its files are damaged.
//!
//! A panic is printed by the hook of the process before anything can catch it. So the hook is wrapped, once in a
//! process, by one that is silent while this module waits for a panic on the same thread, and that hands every other
//! panic to the hook that was there.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

static WRAPPED: Once = Once::new();

/// Runs `call`; a panic in it is given back and not printed.
///
/// What it leaves behind must not be used again: that makes asserting unwind safety sound.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    // The hook of a thread that is panicking cannot be exchanged.
    if !std::thread::panicking() {
        WRAPPED.call_once(wrap_hook);
    }
    let before = EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    EXPECTED.set(before);
    result
}

fn wrap_hook() {
    let hook = take_hook();
    set_hook(Box::new(move |panic| {
        // At the end of a thread the mark may be gone, and nothing is expected any more.
        if !EXPECTED.try_with(Cell::get).unwrap_or(false) {
            hook(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_that_is_waited_for_is_given_back_and_the_next_one_is_not() {
        assert_eq!(caught(|| 7).unwrap(), 7);
        let payload = caught(|| panic!("page 7 is gone")).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"page 7 is gone"));
        assert!(!EXPECTED.get(), "a panic of anybody else is printed");
        let nested = caught(|| (caught(|| panic!("inside")).is_err(), EXPECTED.get())).unwrap();
        assert_eq!(nested, (true, true));
    }
}
