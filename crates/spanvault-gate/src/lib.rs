//! Spanvault: gate.
