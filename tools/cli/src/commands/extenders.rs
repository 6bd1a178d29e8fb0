//! Flags that override the extender settings of profiles.

use clap::Args;
use schedc_core::extenders::{Overrides, Setting};
use schedc_core::profile::ProfileInfo;

use super::failure::Failure;

/// Flags of commands that call extenders.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Extenders")]
pub(crate) struct Extenders {
    /// Address of an extender, instead of its `url-prefix`
    ///
    /// Write VALUE if the profiles have one extender, else URL=VALUE, where URL is the `url-prefix` in the profile.
    /// Flags take precedence over environment variables; docs/extenders.md lists the variables.
    #[arg(long, value_name = "[URL=]VALUE", value_delimiter = ',')]
    extender_url_prefix: Vec<String>,

    /// File with the CA certificates for extenders, instead of `ca-file`
    #[arg(long, value_name = "[URL=]VALUE", value_delimiter = ',')]
    extender_ca_file: Vec<String>,

    /// File with the client certificate for extenders, instead of `cert-file`
    #[arg(long, value_name = "[URL=]VALUE", value_delimiter = ',')]
    extender_cert_file: Vec<String>,

    /// File with the client key for extenders, instead of `key-file`
    #[arg(long, value_name = "[URL=]VALUE", value_delimiter = ',')]
    extender_key_file: Vec<String>,
}

impl Extenders {
    /// Returns the overrides. `profiles` are the profiles that the command runs; if none has extenders, a flag is an
    /// error.
    pub(crate) fn overrides(&self, profiles: &[ProfileInfo]) -> Result<&'static Overrides, Failure> {
        let mut overrides = Overrides::default();
        for (flag, setting, entries) in [
            ("--extender-url-prefix", Setting::UrlPrefix, &self.extender_url_prefix),
            ("--extender-ca-file", Setting::CaFile, &self.extender_ca_file),
            ("--extender-cert-file", Setting::CertFile, &self.extender_cert_file),
            ("--extender-key-file", Setting::KeyFile, &self.extender_key_file),
        ] {
            if !entries.is_empty() && profiles.iter().all(|profile| profile.extenders.is_empty()) {
                let names: Vec<&str> = profiles.iter().map(|profile| profile.name).collect();
                let names = names.join(", ");
                return Err(Failure::new(format_args!("{flag}: no profile here has extenders ({names})")));
            }
            entries.iter().for_each(|entry| overrides.add(setting, entry.trim()));
        }
        // The overrides are leaked: they are parsed once and used until the program ends.
        Ok(if overrides == *Overrides::NONE { Overrides::NONE } else { Box::leak(Box::new(overrides)) })
    }
}
