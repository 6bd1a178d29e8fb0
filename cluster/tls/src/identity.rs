//! Client certificates.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys};

use crate::Identity;

/// Returns a resolver that presents the certificate to every server that requests one.
pub(crate) fn resolver(identity: Identity<'_>, provider: &CryptoProvider) -> Result<SingleCertAndKey, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(identity.chain).collect();
    let chain = chain.map_err(|error| format!("it is not PEM: {error}"))?;
    if chain.is_empty() {
        return Err("it contains no `BEGIN CERTIFICATE`".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(identity.key)
        .map_err(|_| "its key is not an unencrypted private key in PEM".to_owned())?;
    let key = provider.key_provider.load_private_key(key).map_err(|error| error.to_string())?;
    let pair = CertifiedKey::new(chain, key);
    check_key(&pair).map_err(|error| error.to_string())?;
    Ok(SingleCertAndKey::from(pair))
}

/// Checks that certificate and key match, if the key reports its public half.
fn check_key(pair: &CertifiedKey) -> Result<(), Error> {
    match pair.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(()),
        // rustls parses X.509 version 3 only, but sends any certificate. `openssl x509 -req` without extensions writes
        // version 1. Such a certificate is accepted if it contains the bytes of the public key.
        Err(error @ Error::InvalidCertificate(_)) => match pair.key.public_key() {
            Some(key) if pair.cert.first().is_some_and(|it| it.windows(key.len()).any(|part| part == &*key)) => Ok(()),
            _ => Err(error),
        },
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn certificates_of_x509_version_1_are_matched_with_their_key() {
        let own = rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap();
        let other = rcgen::generate_simple_self_signed(["b".to_owned()]).unwrap();
        let mut certificate = own.cert.der().to_vec();
        let version_3 = [0xa0, 3, 2, 1, 2];
        let at = certificate.windows(5).position(|part| part == version_3).unwrap();
        certificate[at + 4] = 0;
        let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, certificate);
        let chain = format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n");
        let check =
            |key: &str| resolver(Identity { chain: chain.as_bytes(), key: key.as_bytes() }, &provider()).map(|_| ());
        assert_eq!(check(&own.signing_key.serialize_pem()), Ok(()));
        assert!(check(&other.signing_key.serialize_pem()).is_err());
    }
}
