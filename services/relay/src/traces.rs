//! Sends the spans of media sessions to a collector of OpenTelemetry, over OTLP/HTTP. A full queue or a silent collector loses spans and delays
//! nothing. Rule MED-61.
use crate::config::Settings;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};
use std::time::Duration;

const EXPORT_EVERY: Duration = Duration::from_secs(1);
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends what waits when it is dropped.
pub struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        let _sent = self.0.shutdown_with_timeout(CLOSE_TIMEOUT);
    }
}

/// Records spans from now on; `None` if there is no collector. A relay that cannot send spans works, and says so.
pub fn install(settings: &Settings) -> Option<Traces> {
    let url = settings.media.as_ref()?.traces_url.clone()?;
    let sending = send_to(url, settings).inspect_err(|error| tracing::error!(%error, "nothing is traced"));
    sending.ok()
}

fn send_to(url: String, settings: &Settings) -> Result<Traces, ExporterBuildError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpJson)
        .with_endpoint(url)
        .with_timeout(EXPORT_TIMEOUT)
        .build()?;
    let batches = BatchConfigBuilder::default().with_scheduled_delay(EXPORT_EVERY).build();
    let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
    let provider =
        SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource(settings)).build();
    global::set_tracer_provider(provider.clone());
    Ok(Traces(provider))
}

fn resource(settings: &Settings) -> Resource {
    let cluster = settings.cluster.as_ref();
    let pod = cluster.and_then(|cluster| cluster.pod.clone());
    let region = cluster.map(|cluster| cluster.region.clone());
    let known = [("service.instance.id", pod), ("cloud.region", region)];
    let attributes = known.into_iter().filter_map(|(name, value)| Some(KeyValue::new(name, value?)));
    Resource::builder_empty().with_service_name("parley-relay").with_attributes(attributes).build()
}
