//! Durations in the format of kube-scheduler's messages.

/// Formats nanoseconds like Go's `time.Duration`: `1h0m5s`, `1.5s`. A duration below a second has one unit: `20ms`.
pub(crate) fn go_duration(nanoseconds: i64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = nanoseconds % 1_000_000_000;
    let s = if fraction == 0 { s.to_string() } else { format!("{s}.{fraction:09}").trim_end_matches('0').to_string() };
    match nanoseconds {
        0 => "0s".into(),
        1..1_000 => format!("{nanoseconds}ns"),
        1_000..1_000_000 => format!("{}\u{b5}s", nanoseconds as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{}ms", nanoseconds as f64 / 1e6),
        _ if h > 0 => format!("{h}h{m}m{s}s"),
        _ if m > 0 => format!("{m}m{s}s"),
        _ => format!("{s}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_go() {
        let second = 1_000_000_000;
        for (nanoseconds, text) in [
            (0, "0s"),
            (1_500, "1.5\u{b5}s"),
            (20_000_000, "20ms"),
            (10 * second, "10s"),
            (second + second / 2, "1.5s"),
            (15 * 60 * second, "15m0s"),
            (3605 * second, "1h0m5s"),
        ] {
            assert_eq!(go_duration(nanoseconds), text);
        }
    }
}
