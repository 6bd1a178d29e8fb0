//! The environment variables of cargo.

use std::collections::BTreeSet;
use std::env;
use std::path::{self, PathBuf};

/// The cargo that builds the package, from environment variables.
#[derive(Clone, Debug)]
pub struct CargoEnvironment {
    /// The program (`CARGO`).
    pub program: PathBuf,
    /// The folder of downloaded packages (`CARGO_HOME`, by default `.cargo` in the user's home).
    pub home: Option<PathBuf>,
    /// The target platform of the package (`TARGET`), only in build scripts. The default is the compiler's
    /// platform.
    pub target: Option<String>,
    /// The enabled features of the package, spelled as in `CARGO_FEATURE_…`: only in build scripts.
    pub features: Option<BTreeSet<String>>,
    /// Whether this is a build script or a macro. `Cargo.lock` is then up to date, and must not change.
    pub is_building: bool,
    /// Whether the network must not be used (`CARGO_NET_OFFLINE`).
    pub is_offline: bool,
}

impl CargoEnvironment {
    /// Reads the environment variables of this process.
    pub fn of_process() -> Self {
        // Users also set `TARGET`, but not this variable.
        let is_build_script = env::var_os("CARGO_CFG_TARGET_ARCH").is_some();
        let target = env::var("TARGET").ok().filter(|_| is_build_script);
        let home = env::var_os("CARGO_HOME").and_then(|home| path::absolute(home).ok());
        let features = || {
            let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            names.filter_map(|name| name.strip_prefix("CARGO_FEATURE_").map(str::to_owned)).collect()
        };
        Self {
            program: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into(),
            home: home.or_else(|| Some(env::home_dir()?.join(".cargo"))),
            features: is_build_script.then(features),
            is_building: is_build_script || env::var_os("CARGO_CRATE_NAME").is_some(),
            is_offline: env::var_os("CARGO_NET_OFFLINE").is_some_and(|value| value == "true"),
            target,
        }
    }

    /// Returns whether a feature of the package is enabled; `None` outside of build scripts.
    pub(crate) fn has_feature(&self, feature: &str) -> Option<bool> {
        let spelled = feature.to_uppercase().replace('-', "_");
        self.features.as_ref().map(|features| features.contains(&spelled))
    }
}
