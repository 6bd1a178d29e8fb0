//! Functions of timestamps and durations.

use super::{Declaration, mismatch, text};
use crate::data::time::{Civil, NANOSECONDS, Timestamp, days_until};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const OVERFLOW: Failure<'static> = Failure::Static("timestamp overflow");

/// Returns the offset of a time zone in seconds. Only UTC and numeric offsets are known.
fn zone<'a>(name: &str) -> Result<i64, Failure<'a>> {
    let unknown = || Failure::text(format!("unknown time zone {name}"));
    let Some((hours, minutes)) = name.split_once(':') else {
        return if matches!(name, "" | "UTC") { Ok(0) } else { Err(unknown()) };
    };
    let hours: i64 = hours.parse().map_err(|_| unknown())?;
    let minutes: i64 = minutes.parse().map_err(|_| unknown())?;
    if hours.abs() > 24 || minutes.abs() > 60 {
        return Err(unknown());
    }
    Ok(if name.starts_with('-') { hours * 3600 - minutes * 60 } else { hours * 3600 + minutes * 60 })
}

/// Returns a part of a timestamp, in the time zone of the second argument or else UTC.
fn part<'a>(arguments: &[Value<'a>], read: fn(Timestamp, Civil) -> i64) -> Output<'a> {
    let Value::Timestamp(timestamp) = arguments[0] else { return mismatch() };
    let offset = match arguments.get(1) {
        Some(name) => zone(text(name)?)?,
        None => 0,
    };
    Ok(Value::Int(read(timestamp, timestamp.civil(offset))))
}

/// Returns a part of a timestamp, or the number of whole units in a duration. `unit` is in nanoseconds.
fn part_or_total<'a>(arguments: &[Value<'a>], read: fn(Timestamp, Civil) -> i64, unit: i64) -> Output<'a> {
    match arguments {
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds / unit)),
        _ => part(arguments, read),
    }
}

type Arguments<'v, 'a> = &'v [Value<'a>];

fn year<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| civil.year)
}

fn month<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| civil.month - 1)
}

fn day_of_year<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| civil.days - days_until(civil.year, 1, 1))
}

fn day_of_month<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| civil.day - 1)
}

fn date<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| civil.day)
}

fn day_of_week<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part(arguments, |_, civil| (civil.days + 4).rem_euclid(7))
}

fn hours<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part_or_total(arguments, |_, civil| civil.second_of_day / 3600, 3600 * NANOSECONDS)
}

fn minutes<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part_or_total(arguments, |_, civil| civil.second_of_day / 60 % 60, 60 * NANOSECONDS)
}

fn seconds<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part_or_total(arguments, |_, civil| civil.second_of_day % 60, NANOSECONDS)
}

fn milliseconds<'a>(_: &mut Work, arguments: Arguments<'_, 'a>) -> Output<'a> {
    part_or_total(arguments, |timestamp, _| (timestamp.nanoseconds / 1_000_000).into(), 1_000_000)
}

macro_rules! parts {
    ($($name:literal, $call:ident, [$($duration:literal)?];)*) => {
        pub(super) const DECLARATIONS: &[Declaration] = &[$(
            Declaration {
                name: $name,
                call: $call,
                overloads: &[
                    concat!($name, ": timestamp.() -> int"),
                    concat!($name, "_with_tz: timestamp.(string) -> int"),
                    $($duration,)?
                ],
            },
        )*];
    };
}

parts! {
    "getFullYear", year, [];
    "getMonth", month, [];
    "getDayOfYear", day_of_year, [];
    "getDayOfMonth", day_of_month, [];
    "getDate", date, [];
    "getDayOfWeek", day_of_week, [];
    "getHours", hours, ["duration_to_hours: duration.() -> int"];
    "getMinutes", minutes, ["duration_to_minutes: duration.() -> int"];
    "getSeconds", seconds, ["duration_to_seconds: duration.() -> int"];
    "getMilliseconds", milliseconds, ["duration_to_milliseconds: duration.() -> int"];
}
