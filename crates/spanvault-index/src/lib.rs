//! Spanvault: index.
