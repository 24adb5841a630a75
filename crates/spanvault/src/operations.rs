//! The four operations that demand evidence: audit, replay, check, executed. Each says *insufficient* rather than
//! guess; none of them reads a summary. And
//! whether a summary alone may serve for one of them: never.

mod assess;
mod audit;
mod check;
mod executed;
mod replay;

pub use assess::Assessment;
pub use audit::{Audit, SideEffect};
pub use check::{Checked, Claim};
pub use executed::{Executed, Execution};
pub use replay::{Replay, ReplayedSpan};
