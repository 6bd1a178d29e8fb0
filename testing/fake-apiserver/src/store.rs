//! Objects of the server, as JSON.

use serde_json::Value;

use crate::kinds::Kind;

pub(crate) type Key = schedc_in_memory::store::Key<&'static Kind>;
pub(crate) type Change = schedc_in_memory::store::Change<Value, &'static Kind>;
pub(crate) type Store = schedc_in_memory::store::Store<Value, &'static Kind>;
