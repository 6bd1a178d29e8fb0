//! Calls from other languages: no panic reaches the caller, and a value is not used after a panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call that ended with a panic, now or before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The text of the panic, or a note that an earlier call panicked.
    pub message: String,
}

impl Panicked {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        Panicked { message: format!("schedc failed, please report it: {text}") }
    }
}

/// Runs a function, and turns a panic into an error. Values that the panic left inconsistent must not be used again.
///
/// # Errors
/// The error of the function, or [`Panicked`].
pub fn caught<R, E: From<Panicked>>(work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Panicked::of(&*panic).into()))
}

/// A value that an object of another language owns; `None` after a panic.
#[derive(Debug)]
pub struct Guarded<T>(Option<T>);

impl<T> Guarded<T> {
    /// Guards a value.
    pub fn new(value: T) -> Self {
        Guarded(Some(value))
    }

    /// Calls a function with the value. After a panic, the value is gone.
    ///
    /// # Errors
    /// The error of the function, or [`Panicked`].
    pub fn call<R, E: From<Panicked>>(&mut self, work: impl FnOnce(&mut T) -> Result<R, E>) -> Result<R, E> {
        let Some(value) = &mut self.0 else {
            let message = "an earlier call ended with an error of schedc; release this object, and create another one";
            return Err(Panicked { message: message.to_owned() }.into());
        };
        catch_unwind(AssertUnwindSafe(|| work(value))).unwrap_or_else(|panic| {
            // Dropping an inconsistent value may panic again.
            let _ = catch_unwind(AssertUnwindSafe(|| self.0 = None));
            Err(Panicked::of(&*panic).into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_refuses_calls_after_a_panic() {
        let mut object = Guarded::new(1);
        let first: Result<(), Panicked> = object.call(|_| panic!("a fault"));
        assert_eq!(first.unwrap_err().message, "schedc failed, please report it: a fault");
        let second: Result<i32, Panicked> = object.call(|value| Ok(*value));
        assert!(second.unwrap_err().message.contains("create another one"));
    }
}
