//! Tests over the facade and the command line.
