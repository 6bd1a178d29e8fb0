//! How PreBind waits: until what the cluster tells of a pod's claims and volumes says that all are bound, or that they will
//! not be.

use schedc_core::client::{ApiError, ApiReason, ObjectUpdates};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, NodeSelector, RequirementText, TermText, label_integer};
use serde_json::Value;

use super::binding::{SELECTED_NODE, Work, annotation, object, text};

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// What is known of the objects that a binding depends on.
pub(super) struct Waiting<'a> {
    work: &'a Work,
    pod: Known,
    node: Known,
    bindings: Vec<Pair>,
    provisions: Vec<Pair>,
    /// Which object has a place in the news.
    places: Vec<Place>,
}

/// A volume and the claim that gets it.
#[derive(Default)]
struct Pair {
    volume: Known,
    claim: Known,
    /// The volume's, if it is followed.
    name: Option<Box<str>>,
}

/// An object as it was told of last.
#[derive(Default)]
enum Known {
    #[default]
    Unknown,
    Is(Value),
    /// It is not there, in the server's words.
    Gone(String),
}

#[derive(Clone, Copy)]
enum Place {
    Pod,
    Node,
    /// The volume of a binding.
    Volume(usize),
    /// The claim of a binding.
    Claim(usize),
    /// The claim of a provision.
    Provision(usize),
    /// The volume that was made for it.
    Made(usize),
}

impl<'a> Waiting<'a> {
    /// From what was written on, by the order of what is followed.
    pub(super) fn new(work: &'a Work, written: Vec<Value>) -> Self {
        let volumes = 0..work.bindings.len();
        let claims = 0..work.provisions.len();
        let mut written = written.into_iter().map(Known::Is);
        let mut next = || written.next().unwrap_or_default();
        let bindings = volumes.clone().map(|_| Pair { volume: next(), ..Pair::default() }).collect();
        let provisions = claims.clone().map(|_| Pair { claim: next(), ..Pair::default() }).collect();
        let places = volumes.map(Place::Volume).chain(claims.map(Place::Provision));
        let places = [Place::Pod, Place::Node].into_iter().chain(places).collect();
        Waiting { work, pod: Known::Unknown, node: Known::Unknown, bindings, provisions, places }
    }

    /// Waits until all claims are bound.
    ///
    /// # Errors
    /// They will not be, or it takes too long.
    pub(super) async fn until_bound(mut self, news: &mut impl ObjectUpdates) -> Result<(), String> {
        for (number, (_, claim)) in self.work.bindings.iter().enumerate() {
            news.add(claim.object.clone());
            self.places.push(Place::Claim(number));
        }
        loop {
            self.follow_made(news);
            if self.is_done()? {
                return Ok(());
            }
            let Some((place, now)) = news.next().await else { return Err("context deadline exceeded".to_owned()) };
            if let Some(place) = self.places.get(place) {
                self.told(*place, now)?;
            }
        }
    }

    fn told(&mut self, place: Place, now: Result<Value, ApiError>) -> Result<(), String> {
        let known = match place {
            Place::Pod => &mut self.pod,
            Place::Node => &mut self.node,
            Place::Volume(number) => &mut self.bindings[number].volume,
            Place::Claim(number) => &mut self.bindings[number].claim,
            Place::Provision(number) => &mut self.provisions[number].claim,
            Place::Made(number) => &mut self.provisions[number].volume,
        };
        match now {
            Ok(now) if known.is_newer_than(&now) => {}
            Ok(now) => *known = Known::Is(now),
            Err(error) if error.reason == ApiReason::NotFound => *known = Known::Gone(error.message),
            Err(error) => match place {
                Place::Pod | Place::Node => {}
                Place::Volume(_) | Place::Claim(_) => return Err(format!("failed to check binding: {error}")),
                Place::Provision(_) => return Err(format!("failed to check provisioning pvc: {error}")),
                Place::Made(number) => {
                    let name = self.provisions[number].name.as_deref().unwrap_or_default();
                    return Err(format!("failed to get pv {name:?} from cache: {error}"));
                }
            },
        }
        Ok(())
    }

    /// Follows volumes that were made, as soon as they have names.
    fn follow_made(&mut self, news: &mut impl ObjectUpdates) {
        for (number, made) in self.provisions.iter_mut().enumerate() {
            let Known::Is(claim) = &made.claim else { continue };
            let name = text(&claim["spec"]["volumeName"]);
            if !name.is_empty() && made.name.as_deref() != Some(name) {
                made.name = Some(name.into());
                made.volume = Known::Unknown;
                news.add(object("PersistentVolume", "".into(), name.into()));
                self.places.push(Place::Made(number));
            }
        }
    }

    /// Whether all claims are bound (`checkBindings`). An error says that they will not be.
    fn is_done(&self) -> Result<bool, String> {
        if let Known::Gone(message) = &self.node {
            return Err(format!("failed to get node {:?}: {message}", self.work.node));
        }
        match &self.pod {
            Known::Gone(message) => return Err(format!("pod does not exist any more: {message}")),
            Known::Is(pod) if ["Succeeded", "Failed"].contains(&text(&pod["status"]["phase"])) => {
                return Err("pod does not exist any more: it has run to its end".to_owned());
            }
            Known::Is(_) | Known::Unknown => {}
        }
        for (Pair { volume, claim, .. }, (object, _)) in self.bindings.iter().zip(&self.work.bindings) {
            let (volume, claim) = match (volume, claim) {
                (Known::Gone(message), _) | (_, Known::Gone(message)) => {
                    return Err(format!("failed to check binding: {message}"));
                }
                (volume, claim) => (volume.value(), claim.value()),
            };
            self.check_affinity(volume)?;
            if text(&volume["spec"]["claimRef"]["uid"]).is_empty() {
                return Err(format!("ClaimRef got reset for pv {:?}", object.name));
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        for (Pair { volume, claim, name: made }, provision) in self.provisions.iter().zip(&self.work.provisions) {
            if let Known::Gone(message) = claim {
                return Err(format!("failed to check provisioning pvc: {message}"));
            }
            let (name, claim) = (&provision.object.name, claim.value());
            if claim["metadata"]["annotations"].is_null() {
                return Err(format!("selectedNode annotation reset for PVC {name:?}"));
            }
            if annotation(claim, SELECTED_NODE) != Some(&*self.work.node) {
                // A provisioner that failed takes the annotation away.
                return Err(format!("provisioning failed for PVC {name:?}"));
            }
            if made.is_some() {
                // If it is not there it comes, or the claim will lose it.
                let Known::Is(volume) = volume else { return Ok(false) };
                self.check_affinity(volume)?;
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the node can reach a volume, which may not have been there when it was chosen (`CheckNodeAffinity`).
    fn check_affinity(&self, volume: &Value) -> Result<(), String> {
        let Some(terms) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"].as_array() else {
            return Ok(());
        };
        let mut interner = Interner::default();
        let labels: Vec<_> = match &self.node {
            Known::Is(node) => {
                let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
                labels.map(|(key, value)| (interner.intern(key), interner.intern(text(value)))).collect()
            }
            Known::Unknown | Known::Gone(_) => {
                let labels = self.work.labels.iter();
                labels.map(|(key, value)| (interner.intern(key), interner.intern(value))).collect()
            }
        };
        // Kubernetes does not look at the names of nodes here.
        let terms: Vec<_> = terms.iter().map(term).collect();
        let mismatch = match NodeSelector::parse(&terms, &mut interner) {
            Err(error) => error,
            Ok(selector) => {
                let integer = |key| label_integer(&interner, labels.value(key)?);
                if selector.matches(Symbol::EMPTY, &labels, integer) {
                    return Ok(());
                }
                "no matching NodeSelectorTerms".to_owned()
            }
        };
        let volume = text(&volume["metadata"]["name"]);
        Err(format!("pv {volume:?} node affinity doesn't match node {:?}: {mismatch}", self.work.node))
    }
}

impl Known {
    /// `null` if nothing is known.
    fn value(&self) -> &Value {
        match self {
            Known::Is(value) => value,
            Known::Unknown | Known::Gone(_) => &Value::Null,
        }
    }

    /// Whether another state of the object is an older one: what was written is told of later, too.
    fn is_newer_than(&self, other: &Value) -> bool {
        let version = |object: &Value| text(&object["metadata"]["resourceVersion"]).parse::<u64>().ok();
        version(self.value()).zip(version(other)).is_some_and(|(known, other)| known > other)
    }
}

/// Whether a claim has its volume and binding is over (`isPVCFullyBound`).
fn is_bound(claim: &Value) -> bool {
    !text(&claim["spec"]["volumeName"]).is_empty() && annotation(claim, BIND_COMPLETED).is_some()
}

fn term(term: &Value) -> TermText<'_> {
    let expressions = term["matchExpressions"].as_array().map(Vec::as_slice).unwrap_or_default();
    TermText { match_expressions: expressions.iter().map(requirement).collect(), match_fields: Vec::new() }
}

fn requirement(requirement: &Value) -> RequirementText<'_> {
    RequirementText {
        key: text(&requirement["key"]),
        operator: text(&requirement["operator"]),
        values: requirement["values"].as_array().map(|values| values.iter().map(text).collect()),
    }
}
