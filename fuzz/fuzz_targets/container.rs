//! Containers of any bytes: what is unpacked stays within the limit.

#![no_main]

use std::io::Cursor;
use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use spanvault_import::Container;

const BYTES_MAX: u64 = 1 << 20;

fuzz_target!(|file: &[u8]| {
    let Some(container) = Container::of(file) else { return };
    let mut total = 0;
    let unpacked = container.unpack(Cursor::new(file), BYTES_MAX, &mut |member| {
        let mut bytes = Vec::new();
        let read = member.bytes.read_to_end(&mut bytes);
        total += bytes.len() as u64;
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(unpacked.is_err() || total <= BYTES_MAX);
    assert_eq!(container.measure(Cursor::new(file), BYTES_MAX).ok(), unpacked.ok().map(|()| total));
});
