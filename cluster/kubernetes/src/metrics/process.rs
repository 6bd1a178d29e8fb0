//! Process metrics from Linux' `/proc`. Missing values are left out.

use std::fs;

use super::exposition::Exposition;
use super::table;

/// Number of clock ticks per second, the unit of processor time in `/proc`; it is 100 on every Linux.
const TICKS_IN_A_SECOND: f64 = 100.0;

/// Values that were read; `None` if unavailable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Process {
    cpu_seconds: Option<f64>,
    start_seconds: Option<f64>,
    resident: Option<f64>,
    virtual_size: Option<f64>,
    virtual_max: Option<f64>,
    open_fds: Option<f64>,
    max_fds: Option<f64>,
    received: Option<f64>,
    transmitted: Option<f64>,
}

/// Writes the process metrics.
pub(super) fn write(exposition: &mut Exposition<'_>) {
    let process = Process::read();
    for (family, number) in [
        (&table::PROCESS_CPU, process.cpu_seconds),
        (&table::PROCESS_START, process.start_seconds),
        (&table::PROCESS_RESIDENT, process.resident),
        (&table::PROCESS_VIRTUAL, process.virtual_size),
        (&table::PROCESS_VIRTUAL_MAX, process.virtual_max),
        (&table::PROCESS_OPEN_FDS, process.open_fds),
        (&table::PROCESS_MAX_FDS, process.max_fds),
        (&table::PROCESS_RECEIVED, process.received),
        (&table::PROCESS_TRANSMITTED, process.transmitted),
    ] {
        number.into_iter().for_each(|number| exposition.number(family, &[], number));
    }
}

/// Writes the start time of the process.
pub(super) fn write_start(exposition: &mut Exposition<'_>) {
    let start = Process::read_stat().1;
    start.into_iter().for_each(|start| exposition.number(&table::PROCESS_START, &[], start));
}

impl Process {
    fn read() -> Process {
        let file = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let (cpu_seconds, start_seconds) = Process::read_stat();
        let (status, limits, network) = (file("status"), file("limits"), file("net/netstat"));
        // Reading the folder opens one descriptor, which is subtracted.
        let open_fds = fs::read_dir("/proc/self/fd").ok().map(|fds| fds.count().saturating_sub(1) as f64);
        Process {
            cpu_seconds,
            start_seconds,
            resident: kibibytes(&status, "VmRSS:"),
            virtual_size: kibibytes(&status, "VmSize:"),
            virtual_max: soft_limit(&limits, "Max address space"),
            open_fds,
            max_fds: soft_limit(&limits, "Max open files"),
            received: network_counter(&network, "InOctets"),
            transmitted: network_counter(&network, "OutOctets"),
        }
    }

    /// Returns the processor time and start time of the process.
    fn read_stat() -> (Option<f64>, Option<f64>) {
        let file = |name: &str| fs::read_to_string(name).unwrap_or_default();
        times(&file("/proc/self/stat"), &file("/proc/stat"))
    }
}

/// Returns the processor time and the start time in seconds, from `/proc/self/stat` and the boot time in `/proc/stat`.
fn times(process: &str, system: &str) -> (Option<f64>, Option<f64>) {
    // The process name before the last bracket may contain any character.
    let fields: Vec<f64> = match process.rsplit_once(')') {
        Some((_, fields)) => fields.split_whitespace().map(|field| field.parse().unwrap_or(f64::NAN)).collect(),
        None => return (None, None),
    };
    let seconds = |at: usize| fields.get(at).filter(|ticks| !ticks.is_nan()).map(|ticks| ticks / TICKS_IN_A_SECOND);
    let cpu = seconds(11).zip(seconds(12)).map(|(user, system)| user + system);
    let boot = system.lines().find_map(|line| line.strip_prefix("btime ")).and_then(|time| time.trim().parse().ok());
    (cpu, seconds(19).zip(boot).map(|(since, boot): (f64, f64)| boot + since))
}

fn kibibytes(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kibibytes| kibibytes * 1024.0)
}

fn soft_limit(limits: &str, name: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        // Prometheus' Go client reports the largest number for an unlimited value.
        "unlimited" => Some(u64::MAX as f64),
        limit => limit.parse().ok(),
    }
}

/// Reads a counter from `/proc/self/net/netstat`, where a line of names precedes each line of numbers.
fn network_counter(network: &str, name: &str) -> Option<f64> {
    let mut lines = network.lines().filter_map(|line| line.strip_prefix("IpExt: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|known| known == name)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_names_may_contain_any_character() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 0 9 0 0 0 150 50 0 0 20 0 1 0 1234 9 9";
        assert_eq!(times(stat, "cpu 1\nbtime 1000\n"), (Some(2.0), Some(1012.34)));
        assert_eq!(times("", ""), (None, None));
        assert_eq!(times("7 (x) S", "btime 1000"), (None, None));
    }

    #[test]
    fn limits_and_counters_are_found_by_name() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  unlimited  unlimited  bytes\n\
                      Max open files  1024  4096  files\n";
        assert_eq!(soft_limit(limits, "Max open files"), Some(1024.0));
        assert_eq!(soft_limit(limits, "Max address space"), Some(18446744073709551615.0));
        assert_eq!(soft_limit(limits, "Max nothing"), None);
        let network = "TcpExt: A B\nTcpExt: 1 2\nIpExt: InOctets OutOctets\nIpExt: 30 40\n";
        assert_eq!(network_counter(network, "OutOctets"), Some(40.0));
        assert_eq!(network_counter(network, "A"), None);
        assert_eq!(kibibytes("Name: x\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12288.0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_values() {
        let process = Process::read();
        assert!(process.resident.is_some_and(|bytes| bytes > 1e6), "{process:?}");
        assert!(process.virtual_size > process.resident);
        assert!(process.open_fds.is_some_and(|fds| fds >= 3.0) && process.open_fds <= process.max_fds);
        assert!(process.start_seconds.is_some_and(|start| start > 1e9) && process.cpu_seconds.is_some());
    }
}
