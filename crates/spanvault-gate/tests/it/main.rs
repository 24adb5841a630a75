//! The gate from outside: its decision tables in full, its rules one by one, its properties.
#![cfg(test)]

mod compaction_rules;
mod compaction_table;
mod levels;
mod properties;
mod removal_rules;
mod removal_table;
mod views;
mod world;
