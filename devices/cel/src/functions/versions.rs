//! Semantic versions.

use std::sync::Arc;

use super::{mismatch, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{DataRef, Value};
use crate::eval::work::Work;
use crate::version::{Version, VersionError};

fn parse<'a>(arguments: &[Value<'a>]) -> Result<Result<Version, VersionError>, Failure<'a>> {
    let text = text(&arguments[0])?;
    match arguments.get(1) {
        None | Some(Value::Bool(false)) => Ok(Version::parse(text)),
        Some(Value::Bool(true)) => Ok(Version::parse_normalized(text)),
        Some(_) => Err(Failure::NoSuchOverload),
    }
}

pub(super) fn semver<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match parse(arguments)? {
        Ok(version) => Ok(Value::Version(DataRef::Shared(Arc::new(version)))),
        Err(error) => Err(Failure::text(error.to_string())),
    }
}

pub(super) fn is_semver<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(parse(arguments)?.is_ok()))
}

fn number<'a>(arguments: &[Value<'a>], read: fn(&Version) -> u64) -> Output<'a> {
    match &arguments[0] {
        // Conversion wraps as in Go.
        Value::Version(version) => Ok(Value::Int(read(version) as i64)),
        _ => mismatch(),
    }
}

pub(super) fn major<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    number(arguments, |version| version.major)
}

pub(super) fn minor<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    number(arguments, |version| version.minor)
}

pub(super) fn patch<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    number(arguments, |version| version.patch)
}
