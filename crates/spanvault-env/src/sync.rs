//! The locks of the engines.
//!
//! They are those of the standard library. With the feature `shuttle` they are those of [shuttle], which decides at
//! every lock and at every call of a simulated disk who runs next: so models of races run the engines themselves and
//! not a sketch of them. Such a build works only inside of a model. What is here is what blocks or orders; counters that
//! only have to differ, and values that are made once without waiting for anybody, stay with the standard library.
//!
//! [shuttle]: https://docs.rs/shuttle

#[cfg(feature = "shuttle")]
pub use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(feature = "shuttle"))]
pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
