//! CEL expressions that select devices in resource claims and device classes, as Dynamic Resource Allocation of
//! Kubernetes 1.36 evaluates them.
//!
//! ```
//! use schedc_cel::{Attribute, Devices, Selector};
//!
//! let selector = Selector::compile(r#"device.attributes["gpu.example.com"].model == "A100""#)?;
//! let mut devices = Devices::new();
//! devices.add("gpu.example.com", false).attribute("model", Attribute::String("A100".into()));
//! devices.add("gpu.example.com", false).attribute("model", Attribute::String("T4".into()));
//! assert_eq!(selector.matches(devices.get(0).expect("two devices")), Ok(true));
//! assert_eq!(selector.evaluate(&devices).matches(), [0b01]);
//! # Ok::<(), schedc_cel::CompileError>(())
//! ```
//!
//! # From text to result
//!
//! | module | content |
//! |---|---|
//! | `syntax` | text to a tree; macros such as `all` and `cel.bind` become loops |
//! | `check` | types of all operations, as `cel-go` infers them, and the functions that calls refer to |
//! | `cost` | costs of operations, and the estimate that the API server limits |
//! | `compile` | tree to program: constants are computed, names of attributes and capacities become paths |
//! | `eval` | program to result, with limits of cost and work |
//! | `functions` | signatures and implementations of all functions |
//! | `data` | addresses, times, URLs and formats |
//! | `device` | devices as a table of columns |
//! | `selector` | compiled expressions, and their results |
//! | `version` | semantic versions |
//! | `error` | errors that users see |

mod check;
mod compile;
mod cost;
mod data;
mod device;
mod error;
mod eval;
mod functions;
mod selector;
mod syntax;
mod version;

pub use device::{Attribute, Device, Devices, NewDevice};
pub use error::{CompileError, RuntimeError};
pub use selector::{BoundSelector, MAX_COST, MAX_LENGTH, Selector, Verdicts};
pub use version::{Version, VersionError};
