//! Metric families that are built from plain numbers at each scrape. The crate `prometheus` defines their model and encodes them.
use crate::Histogram;
use prometheus::TextEncoder;
use prometheus::proto::{self, Metric, MetricFamily, MetricType};

/// A label and its value.
pub type Label<'a> = (&'a str, &'a str);

/// The metric families of one scrape, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Families(Vec<MetricFamily>);

impl Families {
    /// Adds a gauge without labels.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.gauges(name, help, [([], float(value))]);
    }

    /// Adds a counter without labels.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.counters(name, help, [([], value)]);
    }

    /// Adds a counter with the label `code`. A code that was never counted has no sample.
    pub fn by_code(&mut self, name: &str, help: &str, values: impl Iterator<Item = (&'static str, u64)>) {
        let counted = values.filter(|(_, value)| *value > 0);
        self.counters(name, help, counted.map(|(code, value)| ([("code", code)], value)));
    }

    /// Adds a gauge with a sample for each set of labels.
    pub fn gauges<'a, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = ([Label<'a>; N], f64)>,
    ) {
        let metrics = samples.into_iter().map(|(labels, value)| {
            let mut gauge = proto::Gauge::default();
            gauge.set_value(value);
            let mut metric = labelled(&labels);
            metric.set_gauge(gauge);
            metric
        });
        self.add(name, help, MetricType::GAUGE, metrics.collect());
    }

    /// Adds a counter with a sample for each set of labels.
    pub fn counters<'a, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = ([Label<'a>; N], u64)>,
    ) {
        let metrics = samples.into_iter().map(|(labels, value)| {
            let mut counter = proto::Counter::default();
            counter.set_value(float(value));
            let mut metric = labelled(&labels);
            metric.set_counter(counter);
            metric
        });
        self.add(name, help, MetricType::COUNTER, metrics.collect());
    }

    /// Adds a histogram, in seconds.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        let (count, microseconds) = histogram.sum();
        let buckets = histogram.buckets().map(|(bound, within)| {
            let mut bucket = proto::Bucket::default();
            bucket.set_upper_bound(seconds(bound));
            bucket.set_cumulative_count(within);
            bucket
        });
        let mut samples = proto::Histogram::default();
        samples.set_bucket(buckets.collect());
        samples.set_sample_count(count);
        samples.set_sample_sum(seconds(microseconds));
        let mut metric = Metric::default();
        metric.set_histogram(samples);
        self.add(name, help, MetricType::HISTOGRAM, vec![metric]);
    }

    /// Encodes all families as `text/plain; version=0.0.4`.
    pub fn text(&self) -> String {
        // The encoder refuses a family without a name or samples: `add` skips the latter, and names are literals.
        TextEncoder::new().encode_to_string(&self.0).unwrap_or_else(|error| format!("# {error}\n"))
    }

    /// Adds a family. The encoder refuses one without samples, which a scraper would ignore.
    fn add(&mut self, name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) {
        if metrics.is_empty() {
            return;
        }
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        family.set_metric(metrics);
        self.0.push(family);
    }
}

fn labelled(labels: &[Label<'_>]) -> Metric {
    let pairs = labels.iter().map(|(name, value)| {
        let mut pair = proto::LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    });
    Metric::from_label(pairs.collect())
}

/// Samples of Prometheus are floating-point numbers, which are exact up to 2^53.
#[allow(clippy::cast_precision_loss, reason = "the format has no integers")]
fn float(value: u64) -> f64 {
    value as f64
}

fn seconds(microseconds: u64) -> f64 {
    float(microseconds) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn str_63_the_text_is_what_dashboards_and_alerts_were_written_for() {
        let mut families = Families::default();
        families.gauge("parley_relay_sockets", "Open WebSockets on topics", 2);
        families.counter("parley_relay_received_bytes_total", "Payload from publishers", 12_345_678_901);
        families.by_code("parley_relay_refusals_total", "Refused requests", [("A", 0), ("B", 3)].into_iter());
        families.by_code("parley_relay_link_ended_total", "Links that ended", [("A", 0)].into_iter());
        let rtts = [([("peer", "a\"b\\")], 0.0125), ([("peer", "c")], 2.0)];
        families.gauges("parley_media_link_rtt_seconds", "Round-trip time", rtts);
        let histogram = Histogram::default();
        histogram.observe(Duration::from_micros(300), 2);
        histogram.observe(Duration::from_secs(60), 1);
        families.histogram("parley_relay_hop_seconds", "Time of a hop", &histogram);
        let expected = r#"# HELP parley_relay_sockets Open WebSockets on topics
# TYPE parley_relay_sockets gauge
parley_relay_sockets 2
# HELP parley_relay_received_bytes_total Payload from publishers
# TYPE parley_relay_received_bytes_total counter
parley_relay_received_bytes_total 12345678901
# HELP parley_relay_refusals_total Refused requests
# TYPE parley_relay_refusals_total counter
parley_relay_refusals_total{code="B"} 3
# HELP parley_media_link_rtt_seconds Round-trip time
# TYPE parley_media_link_rtt_seconds gauge
parley_media_link_rtt_seconds{peer="a\"b\\"} 0.0125
parley_media_link_rtt_seconds{peer="c"} 2
# HELP parley_relay_hop_seconds Time of a hop
# TYPE parley_relay_hop_seconds histogram
parley_relay_hop_seconds_bucket{le="0.0001"} 0
parley_relay_hop_seconds_bucket{le="0.00025"} 0
parley_relay_hop_seconds_bucket{le="0.0005"} 2
parley_relay_hop_seconds_bucket{le="0.001"} 2
parley_relay_hop_seconds_bucket{le="0.0025"} 2
parley_relay_hop_seconds_bucket{le="0.005"} 2
parley_relay_hop_seconds_bucket{le="0.01"} 2
parley_relay_hop_seconds_bucket{le="0.025"} 2
parley_relay_hop_seconds_bucket{le="0.05"} 2
parley_relay_hop_seconds_bucket{le="0.1"} 2
parley_relay_hop_seconds_bucket{le="0.25"} 2
parley_relay_hop_seconds_bucket{le="1"} 2
parley_relay_hop_seconds_bucket{le="5"} 2
parley_relay_hop_seconds_bucket{le="+Inf"} 3
parley_relay_hop_seconds_sum 60.0006
parley_relay_hop_seconds_count 3
"#;
        assert_eq!(families.text(), expected);
    }
}
