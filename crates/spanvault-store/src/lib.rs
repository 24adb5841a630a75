//! Spanvault: store.
