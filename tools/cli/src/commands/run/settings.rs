//! The effective settings, from the command line and the file of `--config`.

use std::fs;
use std::path::Path;

use schedc_bounds::files;
use schedc_core::profile::ProfileInfo;
use schedc_import::Level;
use schedc_kubernetes::config::{Settings, effective};
use schedc_kubernetes::flags::Flags;
use tracing::{debug, info, warn};

use super::compare;
use crate::commands::failure::Failure;
use crate::commands::output::yaml;

/// Reads the file of `--config`, if given, and warns of settings without effect. Returns an error for
/// settings that are not supported.
pub(super) fn read(flags: &Flags, compiled: &'static [ProfileInfo]) -> Result<Settings, Failure> {
    flags.warnings.iter().for_each(|warning| warn!("{warning}"));
    let Some(path) = &flags.config else { return Ok(Settings::new(flags)) };
    let name = path.display().to_string();
    let text = files::read_text(path).map_err(|error| Failure::new(format!("--config={name}: {error}")))?;
    let import = schedc_import::import(&name, &text);
    let profiles = import.profiles?;
    let settings = Settings::from_file(flags, path, &text)?;
    let of_profiles = import.remarks.iter().filter(|remark| remark.profile.is_some());
    for remark in of_profiles.filter(|remark| remark.level == Level::Warning) {
        warn!("{}", remark.one_line(&import.files));
    }
    settings.warnings.iter().for_each(|warning| warn!("{warning}"));
    for difference in compare::of_file(&profiles, compiled) {
        warn!("{name}: {difference}");
    }
    Ok(settings)
}

/// Logs the effective settings. With `--write-config-to`, also writes them to a file. Returns whether a file was written:
/// the program then ends.
pub(super) fn log_or_write(
    settings: &Settings,
    compiled: &[ProfileInfo],
    file: Option<&Path>,
) -> Result<bool, Failure> {
    let text = || yaml(&effective(settings, compiled));
    if tracing::event_enabled!(tracing::Level::DEBUG) {
        debug!(v = 2, config = text()?, "Using component config");
    }
    let Some(path) = file else { return Ok(false) };
    let name = path.display();
    fs::write(path, text()?).map_err(|error| Failure::new(format!("--write-config-to={name}: {error}")))?;
    info!(file = %name, "Wrote configuration");
    Ok(true)
}
