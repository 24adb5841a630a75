//! Spanvault: evidence.
