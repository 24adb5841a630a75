//! Spanvault: import.
