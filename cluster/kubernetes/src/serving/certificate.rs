//! The server's certificate.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SanType,
};
use schedc_bounds::files;

use crate::flags;

/// Certificate chain and key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct CertificatePair {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum CertificateSource {
    /// Files, which may change.
    Files {
        /// Flag that names the files, for messages.
        flag: &'static str,
        certificate: PathBuf,
        key: PathBuf,
    },
    /// A generated certificate without files.
    Memory,
}

/// Host name in a generated certificate: kube-scheduler's value.
const HOST: &str = "localhost";
/// Validity of a generated certificate: kube-scheduler's value.
const VALID: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// A generated certificate is valid from this time before now on, since clocks differ.
const EARLIER: Duration = Duration::from_secs(60 * 60);

impl CertificateSource {
    /// Loads the certificate from files, or from a folder, where a missing certificate is created. With neither files
    /// nor folder, generates one in memory.
    pub(super) fn load(serving: &flags::Serving) -> Result<(CertificateSource, CertificatePair), String> {
        if let Some((certificate, key)) = serving.certificate.clone() {
            let source =
                CertificateSource::Files { flag: "--tls-cert-file and --tls-private-key-file", certificate, key };
            let pair = read(&source)?;
            return Ok((source, pair));
        }
        let Some(folder) = &serving.certificates else {
            return Ok((CertificateSource::Memory, self_signed(serving.address)?));
        };
        let (certificate, key) = (folder.join("kube-scheduler.crt"), folder.join("kube-scheduler.key"));
        let is_there =
            |path: &Path| path.try_exists().map_err(|error| format!("--cert-dir: {}: {error}", path.display()));
        let source =
            CertificateSource::Files { flag: "--cert-dir", certificate: certificate.clone(), key: key.clone() };
        match (is_there(&certificate)?, is_there(&key)?) {
            (true, true) => {
                let pair = read(&source)?;
                Ok((source, pair))
            }
            (false, false) => {
                let pair = self_signed(serving.address)?;
                let put = || {
                    fs::create_dir_all(folder)?;
                    write(&certificate, &pair.certificate, 0o644)?;
                    write(&key, &pair.key, 0o600)
                };
                put().map_err(|error| {
                    format!("cannot create a certificate in --cert-dir={}: {error}", folder.display())
                })?;
                tracing::info!("Generated self-signed cert ({}, {})", certificate.display(), key.display());
                Ok((source, pair))
            }
            _ => Err(format!(
                "--cert-dir={}: only one of kube-scheduler.crt and kube-scheduler.key exists; remove it, or add the other one",
                folder.display()
            )),
        }
    }

    /// Reads the certificate again. `None`: it cannot change.
    pub(super) fn reload(&self) -> Option<Result<CertificatePair, String>> {
        matches!(self, CertificateSource::Files { .. }).then(|| read(self))
    }
}

fn read(source: &CertificateSource) -> Result<CertificatePair, String> {
    let CertificateSource::Files { flag, certificate, key } = source else {
        return Err("a certificate that is in no file cannot be read".to_owned());
    };
    let read = |path: &Path| files::read(path).map_err(|why| format!("{flag}: {}: {why}", path.display()));
    Ok(CertificatePair { certificate: read(certificate)?, key: read(key)? })
}

fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(content)
}

/// Generates a certificate signed by a new authority, with kube-scheduler's names and validity.
fn self_signed(address: IpAddr) -> Result<CertificatePair, String> {
    make(address).map_err(|error| format!("cannot generate a certificate: {error}"))
}

fn make(address: IpAddr) -> Result<CertificatePair, rcgen::Error> {
    let now = SystemTime::now();
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let named = |name: String| {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = (now - EARLIER).into();
        params.not_after = (now - EARLIER + VALID).into();
        params
    };

    let mut authority = named(format!("{HOST}-ca@{seconds}"));
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let mut params = named(format!("{HOST}@{seconds}"));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    if !address.is_unspecified() && !addresses.contains(&address) {
        addresses.push(address);
    }
    params.subject_alt_names = vec![SanType::DnsName(HOST.try_into()?)];
    params.subject_alt_names.extend(addresses.into_iter().map(SanType::IpAddress));
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &authority)?;
    let chain = certificate.pem() + &authority.pem();
    Ok(CertificatePair { certificate: chain.into_bytes(), key: key.serialize_pem().into_bytes() })
}
