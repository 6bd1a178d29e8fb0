//! client-go's `rest_client_` metrics of requests to the API server.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_core::column::CacheSize;

use super::Metrics;
use super::exposition::Exposition;
use super::table;
use super::values::{Histogram, MetricVec};
use crate::transport::{
    ApiRequest, ApiResponse, Format, RequestClass, StreamingTransport, Transport, TransportError, Verb,
};

/// Code that stands for a missing response; client-go's label is `<error>`.
const NO_RESPONSE: u16 = 0;

/// HTTP methods that requests use.
const METHODS: [Verb; 5] = [Verb::Get, Verb::Create, Verb::Update, Verb::StrategicPatch, Verb::Delete];

fn method_index(verb: Verb) -> usize {
    match verb {
        Verb::Get => 0,
        Verb::Create => 1,
        Verb::Update => 2,
        Verb::MergePatch | Verb::StrategicPatch => 3,
        Verb::Delete => 4,
    }
}

#[derive(Debug)]
pub(super) struct RestClientMetrics {
    host: Box<str>,
    methods: [MethodMetrics; METHODS.len()],
}

#[derive(Debug)]
struct MethodMetrics {
    /// Number of responses by status code.
    responses: MetricVec<u16, u64>,
    duration: Histogram,
    sent: Histogram,
    received: Histogram,
    waited: Histogram,
}

impl RestClientMetrics {
    /// Creates metrics of requests to this host.
    pub(super) fn new(host: Box<str>) -> Self {
        let methods = METHODS.map(|_| MethodMetrics {
            responses: MetricVec::default(),
            duration: Histogram::new(&table::REQUEST_DURATION),
            sent: Histogram::new(&table::REQUEST_SIZE),
            received: Histogram::new(&table::RESPONSE_SIZE),
            waited: Histogram::new(&table::RATE_LIMITER_DURATION),
        });
        RestClientMetrics { host, methods }
    }

    fn sent(&self, verb: Verb, bytes: usize) {
        self.methods[method_index(verb)].sent.observe(bytes as u64);
    }
    fn record_response(&self, verb: Verb, code: u16, duration: Duration) {
        let method = &self.methods[method_index(verb)];
        method.responses.increment(&code);
        method.duration.observe_duration(duration);
    }
    fn received(&self, verb: Verb, bytes: usize) {
        self.methods[method_index(verb)].received.observe(bytes as u64);
    }
    fn waited(&self, verb: Verb, duration: Duration) {
        self.methods[method_index(verb)].waited.observe_duration(duration);
    }

    pub(super) fn write(&self, exposition: &mut Exposition<'_>) {
        let host = &*self.host;
        for (verb, method) in METHODS.iter().zip(&self.methods) {
            let name = verb.method();
            method.responses.each(|code, count| {
                let code = if *code == NO_RESPONSE { "<error>".to_owned() } else { code.to_string() };
                exposition.number(&table::REQUESTS, &[&code, host, name], *count as f64);
            });
            for (family, histogram) in [
                (&table::REQUEST_DURATION, &method.duration),
                (&table::REQUEST_SIZE, &method.sent),
                (&table::RESPONSE_SIZE, &method.received),
                (&table::RATE_LIMITER_DURATION, &method.waited),
            ] {
                if histogram.count() > 0 {
                    exposition.histogram(family, &[host, name], histogram);
                }
            }
        }
    }
}

/// Transport that records metrics.
#[derive(Clone, Debug)]
pub struct MeteredTransport<T> {
    inner: T,
    metrics: Metrics,
}

impl<T> MeteredTransport<T> {
    /// Creates a transport that records its requests in `metrics`.
    pub fn new(inner: T, metrics: Metrics) -> Self {
        MeteredTransport { inner, metrics }
    }
}

impl<T: Transport> MeteredTransport<T> {
    fn record(&self, verb: Verb, since: Duration, code: u16) {
        self.metrics.requests().record_response(verb, code, self.inner.clock().saturating_sub(since));
    }
}

impl<T: Transport> Transport for MeteredTransport<T> {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        let (verb, since) = (call.verb, self.inner.clock());
        self.metrics.requests().sent(verb, call.body.len());
        let answer = self.inner.call(class, call).await;
        match &answer {
            Ok(answer) => {
                self.record(verb, since, answer.code);
                self.metrics.requests().received(verb, answer.body.len());
            }
            Err(_) => self.record(verb, since, NO_RESPONSE),
        }
        answer
    }
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.inner.sleep(time)
    }
    fn now(&self) -> Timestamp {
        self.inner.now()
    }
    fn clock(&self) -> Duration {
        self.inner.clock()
    }
    fn waited(&self, verb: Verb, time: Duration) {
        self.metrics.requests().waited(verb, time);
        self.inner.waited(verb, time);
    }
    fn binding_requested(&self, time: Duration) {
        self.metrics.0.watch_to_bind.observe_duration(time);
        self.inner.binding_requested(time);
    }
    fn report_cache(&self, size: CacheSize) {
        self.metrics.caches().insert(size.cache, size);
        self.inner.report_cache(size);
    }
}

impl<S: StreamingTransport> StreamingTransport for MeteredTransport<S> {
    type Chunks = S::Chunks;

    async fn open(&self, path: String, format: Format) -> Result<Result<Self::Chunks, ApiResponse>, TransportError> {
        let since = self.inner.clock();
        let opened = self.inner.open(path, format).await;
        let code = match &opened {
            Ok(Ok(_)) => 200,
            Ok(Err(answer)) => answer.code,
            Err(_) => NO_RESPONSE,
        };
        self.record(Verb::Get, since, code);
        opened
    }
}
