//! Reasons why devices cannot be allocated.

/// An error that ends the scheduling attempt, also for all other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    claim: Option<usize>,
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The text follows the name of the claim, if the failure belongs to a claim.
    Text,
    /// The node selector of an allocation cannot be created.
    NodeSelector,
    /// The search was interrupted.
    Interrupted,
}

impl Failure {
    pub(crate) fn new(text: String) -> Failure {
        Failure { claim: None, text, kind: Kind::Text }
    }

    /// Creates the failure of a claim. The text follows the claim's name.
    pub(crate) fn of_claim(claim: usize, text: String) -> Failure {
        Failure { claim: Some(claim), text, kind: Kind::Text }
    }

    pub(crate) fn of_node_selector(claim: usize, terms: usize) -> Failure {
        let text = format!("unsupported ResourceSlice.NodeSelector with {terms} terms");
        Failure { claim: Some(claim), text, kind: Kind::NodeSelector }
    }

    pub(crate) fn interrupted() -> Failure {
        Failure { claim: None, text: "filter operation aborted".to_owned(), kind: Kind::Interrupted }
    }

    /// Returns whether the search was interrupted by its caller.
    pub fn is_interruption(&self) -> bool {
        self.kind == Kind::Interrupted
    }

    /// Returns kube-scheduler's message. The function `claim` returns `namespace/name` of the claim at a position.
    pub fn message(&self, claim: impl FnOnce(usize) -> String) -> String {
        let Some(at) = self.claim else { return self.text.clone() };
        let name = claim(at);
        match self.kind {
            Kind::NodeSelector => {
                let name = name.rsplit('/').next().unwrap_or_default();
                format!("create NodeSelector for claim {name}: {}", self.text)
            }
            Kind::Text | Kind::Interrupted => format!("claim {name}{}", self.text),
        }
    }
}

/// kube-scheduler's message for [`Unfit::NoDevices`].
pub const NO_DEVICES: &str = "cannot allocate all claims";
/// kube-scheduler's message for [`Unfit::InvalidPools`].
pub const INVALID_POOLS: &str = "invalid resource pools were encountered";

/// Reason why claims get no devices on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No combination of devices meets all requests.
    NoDevices,
    /// As [`Unfit::NoDevices`], and the node sees an invalid pool.
    InvalidPools,
    /// The scheduling attempt ends with an error, also for all other nodes.
    Failed(Failure),
}

impl Unfit {
    /// Returns kube-scheduler's message. The function `claim` returns `namespace/name` of the claim at a position.
    pub fn message(&self, claim: impl FnOnce(usize) -> String) -> String {
        match self {
            Unfit::NoDevices => NO_DEVICES.to_owned(),
            Unfit::InvalidPools => INVALID_POOLS.to_owned(),
            Unfit::Failed(failure) => failure.message(claim),
        }
    }
}

impl From<Failure> for Unfit {
    fn from(failure: Failure) -> Unfit {
        Unfit::Failed(failure)
    }
}
