//! Spanvault.

pub mod ask;
