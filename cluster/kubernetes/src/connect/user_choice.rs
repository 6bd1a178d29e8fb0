//! The cluster that a user's command reads, chosen as kubectl does.

use std::env::split_paths;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::kubeconfig::Kubeconfig;
use super::{ConnectError, Target};

/// Environment variable with the paths of the user's kubeconfigs.
const VARIABLE: &str = "KUBECONFIG";

pub(super) fn target(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<Target, ConnectError> {
    let env = |name: &str| env(name).filter(|value| !value.is_empty());
    let file = match kubeconfig {
        Some(file) => Some(file.to_owned()),
        None => of_variable(env(VARIABLE))?.or_else(|| of_home(env("HOME")?.into())),
    };
    match (file, context) {
        (Some(file), Some(context)) => Kubeconfig::read(&file)?.target_of(context),
        (Some(file), None) => Target::from_kubeconfig(&file, None),
        (None, None) if env("KUBERNETES_SERVICE_HOST").is_some() => Target::in_cluster(),
        (None, _) => Err(ConnectError::new(format!(
            "no kubeconfig: neither --kubeconfig nor {VARIABLE} names one, and ~/.kube/config does not exist"
        ))),
    }
}

/// Returns the only existing file that the environment variable names, or its first file if none exists.
fn of_variable(value: Option<OsString>) -> Result<Option<PathBuf>, ConnectError> {
    let Some(value) = value else { return Ok(None) };
    let files: Vec<PathBuf> = split_paths(&value).filter(|file| !file.as_os_str().is_empty()).collect();
    let existing: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
    match existing.as_slice() {
        [] => Ok(files.into_iter().next()),
        [file] => Ok(Some((*file).clone())),
        several => {
            let names: Vec<_> = several.iter().map(|file| file.display().to_string()).collect();
            Err(ConnectError::new(format!(
                "{VARIABLE} names several kubeconfigs, which schedc does not merge: choose one of {} with --kubeconfig",
                names.join(", ")
            )))
        }
    }
}

fn of_home(home: PathBuf) -> Option<PathBuf> {
    Some(home.join(".kube/config")).filter(|file| file.exists())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn kubeconfig(server: &str) -> String {
        let context =
            |name: &str| format!("{{\"name\": \"{name}\", \"context\": {{\"cluster\": \"{name}\", \"user\": \"u\"}}}}");
        let cluster =
            |name: &str| format!("{{\"name\": \"{name}\", \"cluster\": {{\"server\": \"https://{name}.{server}\"}}}}");
        format!(
            "{{\"current-context\": \"a\", \"contexts\": [{}, {}], \"clusters\": [{}, {}], \
             \"users\": [{{\"name\": \"u\", \"user\": {{}}}}]}}",
            context("a"),
            context("b"),
            cluster("a"),
            cluster("b")
        )
    }

    #[test]
    fn a_cluster_is_found_as_by_kubectl() {
        let folder = std::env::temp_dir().join(format!("schedc-user-choice-{}", std::process::id()));
        fs::create_dir_all(folder.join("home/.kube")).unwrap();
        let write = |name: &str, server: &str| {
            let file = folder.join(name);
            fs::write(&file, kubeconfig(server)).unwrap();
            file
        };
        let (of_home, first, second) = (write("home/.kube/config", "home"), write("1", "one"), write("2", "two"));
        let home = of_home.parent().unwrap().parent().unwrap();
        let absent = folder.join("absent");
        let find = |flag: Option<&Path>, context: Option<&str>, variable: &[&Path], home: &Path| {
            let env = |name: &str| match name {
                VARIABLE => Some(std::env::join_paths(variable).unwrap()),
                "HOME" => Some(home.into()),
                _ => None,
            };
            match target(flag, context, env) {
                Ok(target) => target.server().to_string(),
                Err(error) => error.to_string().replace(&folder.display().to_string(), "DIR"),
            }
        };
        assert_eq!(find(Some(&first), None, &[&second], home), "https://a.one/");
        assert_eq!(find(None, Some("b"), &[&second], home), "https://b.two/");
        assert_eq!(find(None, None, &[&absent, &second], home), "https://a.two/");
        assert_eq!(find(None, None, &[], home), "https://a.home/");
        let errors = [
            find(None, None, &[&first, &second], home),
            find(None, Some("a"), &[], &absent),
            find(Some(&first), Some("c"), &[], home),
        ];
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            errors,
            [
                "KUBECONFIG names several kubeconfigs, which schedc does not merge: choose one of DIR/1, DIR/2 with --kubeconfig",
                "no kubeconfig: neither --kubeconfig nor KUBECONFIG names one, and ~/.kube/config does not exist",
                "kubeconfig DIR/1: `--context`: `contexts` has no entry `c`",
            ]
        );
    }
}
