//! All extenders of a profile.

use schedc_core::extenders::Extenders;

use crate::settings::Extender;

/// The extenders of a profile, in the order in which they are asked.
#[derive(Debug)]
pub struct HttpExtenders {
    #[expect(dead_code, reason = "the calls follow")]
    settings: &'static [Extender],
}

impl HttpExtenders {
    /// Extenders as their profile describes them. Nothing is read or connected to before something is asked.
    pub fn new(settings: &'static [Extender]) -> Self {
        HttpExtenders { settings }
    }
}

impl Extenders for HttpExtenders {}
