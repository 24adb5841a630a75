//! Spanvault: testkit.
