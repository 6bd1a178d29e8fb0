//! A Kubernetes Job that runs the shards of a back-test.

use serde_json::json;

use crate::commands::failure::Failure;
use crate::commands::{output, program};

/// Folder of the workload and the results in the containers.
const FOLDER: &str = "/data";

/// Options of this command, each with a value, that a shard does not receive.
const UNSHARED_OPTIONS: [&str; 2] = ["--print-job", "--report"];

/// Returns the arguments of a shard: those of this program after `backtest`, without [`UNSHARED_OPTIONS`].
///
/// # Errors
/// An argument is not UTF-8.
pub(super) fn arguments() -> Result<Vec<String>, Failure> {
    let all: Result<Vec<String>, _> = program::arguments().into_iter().map(|argument| argument.into_string()).collect();
    let all = all.map_err(|argument| {
        let argument = argument.display();
        Failure::new(format_args!("--print-job: the argument `{argument}` is not UTF-8; rename the file"))
    })?;
    Ok(shard_arguments(all.into_iter().skip_while(|argument| argument != "backtest").skip(1)))
}

fn shard_arguments(mut arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.split_once('=') {
            None if UNSHARED_OPTIONS.contains(&argument.as_str()) => drop(arguments.next()),
            Some((option, _)) if UNSHARED_OPTIONS.contains(&option) => {}
            _ => kept.push(argument),
        }
    }
    kept
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// Returns the manifest as YAML.
pub(super) fn manifest(shards: u32, arguments: &[String]) -> Result<String, Failure> {
    let arguments: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
    // A result is complete once it has its final name.
    let script = format!(
        "set -e\nshard=$((JOB_COMPLETION_INDEX + 1))\nmkdir -p results\nschedc backtest {} --shard \"$shard/{shards}\" > \"results/$shard.tmp\"\nmv \"results/$shard.tmp\" \"results/$shard.json\"\n",
        arguments.join(" ")
    );
    let job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "schedc-backtest"},
        "spec": {
            "completions": shards,
            "parallelism": shards,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 2,
            "template": {"spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "fsGroup": 65532},
                "containers": [{
                    "name": "schedc",
                    "image": format!("schedc-tools:{}", env!("CARGO_PKG_VERSION")),
                    "command": ["sh", "-c", script],
                    "workingDir": FOLDER,
                    "resources": {"requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
                    "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
                    "volumeMounts": [{"name": "data", "mountPath": FOLDER}],
                }],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "schedc-backtest"}}],
            }},
        },
    });
    let comment = "# Runs the shards of a back-test. The claim `schedc-backtest` contains the workload and the profiles, and gets the results;\n\
                   # if the pods run on several nodes, its access mode must be ReadWriteMany. The image needs a shell and schedc.\n\
                   # Afterwards: schedc backtest merge results/*.json\n";
    Ok(comment.to_owned() + &output::yaml(&job)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_runs_the_same_command_without_job_and_report() {
        let all = ["a b", "--print-job", "3", "--report=r", "--on", "rec", "--report", "r", "--seeds=2", "it's"];
        let arguments = shard_arguments(all.map(str::to_owned).into_iter());
        assert_eq!(arguments, ["a b", "--on", "rec", "--seeds=2", "it's"]);
        let text = manifest(3, &arguments).unwrap_or_default();
        assert!(text.contains(r"schedc backtest 'a b' --on rec --seeds=2 'it'\''s' --shard"), "{text}");
        assert!(text.contains("completions: 3") && text.contains("completionMode: Indexed"), "{text}");
    }
}
