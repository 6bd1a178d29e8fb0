//! Scenarios of `schedc evaluate`.

use schedc_api::guard::Guarded;
use schedc_api::{Error, Evaluator};

use crate::buffer::{Buffer, Text};
use crate::guard::{answer, create, free, value};
use crate::profiles::ProfilesHandle;
use crate::status::{Failure, Status};

/// An evaluator of scenarios.
pub struct EvaluatorHandle(Guarded<Evaluator>);

impl From<Evaluator> for EvaluatorHandle {
    /// Makes a handle of any evaluator, such as one with compiled profiles.
    fn from(evaluator: Evaluator) -> Self {
        EvaluatorHandle(Guarded::new(evaluator))
    }
}

impl EvaluatorHandle {
    /// Returns the pointer for C. `schedc_evaluator_free` releases it.
    pub fn into_raw(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }
}

/// Answers with the line of results for a scenario.
///
/// # Safety
/// `evaluator` is null or a handle that no other thread uses during the call; `scenario` is valid during the call; `out` is
/// null or valid for a write.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
unsafe fn line(
    evaluator: *mut EvaluatorHandle,
    scenario: Text,
    out: *mut Buffer,
    work: impl FnOnce(&mut Evaluator, &[u8]) -> Result<String, Error>,
) -> Status {
    let work = || {
        // SAFETY: the caller makes the same promise.
        let (evaluator, scenario) = unsafe { (value(evaluator, "evaluator")?, scenario.bytes("scenario")?) };
        let line = evaluator.0.call(|evaluator| Ok::<_, Failure>(work(evaluator, scenario)?))?;
        Ok((Status::Ok, line.into_bytes()))
    };
    // SAFETY: the caller makes the same promise.
    unsafe { answer(out, work) }
}

/// Creates an evaluator with all plugins of the profiles.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_evaluator_new(
    profiles: *const ProfilesHandle,
    evaluator: *mut *mut EvaluatorHandle,
    out: *mut Buffer,
) -> Status {
    let make = || {
        // SAFETY: the caller promises a null or valid handle; profiles are only read.
        let profiles = unsafe { profiles.as_ref() }.ok_or_else(|| Failure::null("profiles"))?;
        Ok(EvaluatorHandle::from(Evaluator::new(&profiles.0)?))
    };
    // SAFETY: the caller promises that `evaluator` and `out` are null or valid.
    unsafe { create(evaluator, out, make) }
}

/// Lets the profile of this name or scheduler name decide, regardless of the profiles that scenarios name.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_evaluator_use_profile(
    evaluator: *mut EvaluatorHandle,
    name: Text,
    out: *mut Buffer,
) -> Status {
    let work = || {
        // SAFETY: the caller promises valid pointers.
        let (evaluator, name) = unsafe { (value(evaluator, "evaluator")?, name.text("name")?) };
        evaluator.0.call(|evaluator| Ok::<_, Failure>(evaluator.use_profile(name)?))?;
        Ok((Status::Ok, Vec::new()))
    };
    // SAFETY: the caller promises that `out` is null or valid.
    unsafe { answer(out, work) }
}

/// Evaluates a scenario, one JSON object. The answer has the bytes of the line that `schedc evaluate` writes, without
/// the line break.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_evaluator_evaluate(
    evaluator: *mut EvaluatorHandle,
    scenario: Text,
    out: *mut Buffer,
) -> Status {
    // SAFETY: the caller promises valid pointers and a valid text.
    unsafe { line(evaluator, scenario, out, Evaluator::evaluate) }
}

/// Evaluates the queueing hints of a scenario, as `schedc evaluate --hints` does.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_evaluator_hints(
    evaluator: *mut EvaluatorHandle,
    scenario: Text,
    out: *mut Buffer,
) -> Status {
    // SAFETY: the caller promises valid pointers and a valid text.
    unsafe { line(evaluator, scenario, out, Evaluator::hints) }
}

/// Releases an evaluator.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_evaluator_free(evaluator: *mut EvaluatorHandle) {
    // SAFETY: the caller releases the handle once.
    unsafe { free(evaluator) }
}
