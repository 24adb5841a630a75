//! Products of inputs: every value that a column can have, and a walk over all rows.

/// An enum for each column of a table, with all its values in a list.
macro_rules! levels {
    ($($(#[$doc:meta])* $name:ident { $($level:ident),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum $name { $($level),+ }
        impl $name {
            const ALL: &[Self] = &[$(Self::$level),+];
        }
    )+};
}

/// Runs the body once for each row of the product of the named columns.
macro_rules! for_each {
    ($row:ident, $field:ident: $column:ident $(, $fields:ident: $columns:ident)* ; $body:block) => {
        for &level in $column::ALL {
            $row.$field = level;
            for_each!($row $(, $fields: $columns)* ; $body);
        }
    };
    ($row:ident ; $body:block) => { $body };
}

pub(crate) use {for_each, levels};
