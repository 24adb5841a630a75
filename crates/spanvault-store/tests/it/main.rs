//! The store from outside: what was acknowledged is there, and nothing else is claimed.

mod life;
mod support;
