//! Users named by certificates: the common name is the user, organizations are groups.

use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use yasna::models::ObjectIdentifier;
use yasna::{ASN1Result, BERReader, Tag};

use crate::serving::user::User;

const COMMON_NAME: &[u64] = &[2, 5, 4, 3];
const ORGANIZATION: &[u64] = &[2, 5, 4, 10];
/// Kubernetes' object identifier for the uid of a user.
const UID: &[u64] = &[1, 3, 6, 1, 4, 1, 57683, 2];

/// Key of the extra field that identifies the certificate.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Returns the user that a certificate names, or `None` without a common name.
pub(super) fn user(certificate: &CertificateDer<'_>) -> Result<Option<User>, String> {
    let subject = subject(certificate)?;
    let mut uids = subject.iter().filter(|(kind, _)| kind.components().as_slice() == UID).map(|(_, text)| text);
    let uid = uids.next();
    if uids.next().is_some() || uid.is_some_and(String::is_empty) {
        return Err("the client's certificate has an empty uid, or more than one".to_owned());
    }
    let all = |wanted: &[u64]| {
        let named = subject.iter().filter(|(kind, _)| kind.components().as_slice() == wanted);
        named.map(|(_, text)| text.clone()).collect::<Vec<_>>()
    };
    let Some(name) = all(COMMON_NAME).pop().filter(|name| !name.is_empty()) else { return Ok(None) };
    let digest: String = digest(&SHA256, certificate).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(User {
        name,
        uid: uid.cloned().unwrap_or_default(),
        groups: all(ORGANIZATION),
        extra: [(CREDENTIAL.to_owned(), vec![format!("X509SHA256={digest}")])].into(),
    }))
}

/// Returns the last common name, as in kube-scheduler, or an empty text.
pub(in crate::serving) fn common_name(certificate: &CertificateDer<'_>) -> Result<String, String> {
    let named = subject(certificate)?.into_iter().rfind(|(kind, _)| kind.components().as_slice() == COMMON_NAME);
    Ok(named.map(|(_, text)| text).unwrap_or_default())
}

/// Returns the attributes of the certificate's subject, in order.
fn subject(certificate: &CertificateDer<'_>) -> Result<Vec<(ObjectIdentifier, String)>, String> {
    let read = yasna::parse_der(certificate, |reader| {
        reader.read_sequence(|certificate| {
            let subject = certificate.next().read_sequence(|body| {
                body.read_optional(|version| version.read_tagged(Tag::context(0), |version| version.read_u8()))?;
                // Serial number, algorithm, issuer, validity.
                for _ in 0..4 {
                    body.next().read_der()?;
                }
                let subject = name(body.next())?;
                while body.read_optional(|rest| rest.read_der())?.is_some() {}
                Ok(subject)
            })?;
            // Algorithm, signature.
            for _ in 0..2 {
                certificate.next().read_der()?;
            }
            Ok(subject)
        })
    });
    read.map_err(|error| format!("the client's certificate cannot be read: {error}"))
}

fn name(reader: BERReader<'_, '_>) -> ASN1Result<Vec<(ObjectIdentifier, String)>> {
    let mut name = Vec::new();
    reader.read_sequence_of(|part| {
        part.read_set_of(|attribute| {
            attribute.read_sequence(|attribute| {
                let kind = attribute.next().read_oid()?;
                // All string types in use are compatible with UTF-8.
                let value = attribute.next().read_tagged_der()?;
                name.push((kind, String::from_utf8_lossy(value.value()).into_owned()));
                Ok(())
            })
        })
    })?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair};

    use super::*;

    fn certificate(subject: &[(DnType, &str)]) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, text) in subject {
            params.distinguished_name.push(kind.clone(), DnValue::Utf8String((*text).to_owned()));
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn names_and_groups() {
        let uid = DnType::from_oid(UID);
        let certificate = certificate(&[
            (DnType::OrganizationName, "group"),
            (DnType::CountryName, "ZZ"),
            (DnType::CommonName, "jöe"),
            (uid, "7"),
        ]);
        let user = user(&certificate).unwrap().unwrap();
        assert_eq!((&*user.name, &*user.uid, user.groups), ("jöe", "7", vec!["group".to_owned()]));
        assert!(user.extra[CREDENTIAL][0].starts_with("X509SHA256="));
        assert_eq!(common_name(&certificate).unwrap(), "jöe");
    }

    #[test]
    fn certificates_without_a_common_name() {
        assert_eq!(user(&certificate(&[(DnType::OrganizationName, "group")])), Ok(None));
        assert!(user(&CertificateDer::from(vec![0x30, 0x80, 1])).is_err());
    }
}
