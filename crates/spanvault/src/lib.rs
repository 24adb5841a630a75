//! Spanvault.
