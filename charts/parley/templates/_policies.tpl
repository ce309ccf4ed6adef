{{/* Parts of network policies. A peer is the pods of a component: (dict "root" $ "component" "edge"). */}}

{{- define "parley.peer" -}}
podSelector:
  matchLabels:
    {{- include "parley.selector" . | nindent 4 }}
{{- end -}}

{{/* The sources of HTTP requests of clients to pods: the edge, or the namespace of a Gateway or of another edge, which has to be named. */}}
{{- define "parley.edgePeers" -}}
{{- if eq .Values.edge.type "Envoy" -}}
- {{ include "parley.peer" (dict "root" . "component" "edge") | nindent 2 | trim }}
{{- else if .Values.networkPolicies.edgeFrom -}}
{{ toYaml .Values.networkPolicies.edgeFrom }}
{{- else -}}
- namespaceSelector: { matchLabels: {{ .Values.gatewayApi.namespaceLabels | toJson }} }
{{- end -}}
{{- end -}}

{{/*
Who scrapes metrics, as a rule: (dict "root" $ "ports" (list 8101)). Without a namespace of theirs the pods that the Prometheus operator
runs, wherever they are, if there are PodMonitors for them.
*/}}
{{- define "parley.scrapeRule" -}}
{{- $namespace := .root.Values.networkPolicies.monitoringNamespaceLabels -}}
{{- if or $namespace .root.Values.monitoring.podMonitors }}
- from:
    {{- if $namespace }}
    - namespaceSelector: { matchLabels: {{ $namespace | toJson }} }
    {{- else }}
    - namespaceSelector: {}
      podSelector: { matchLabels: { app.kubernetes.io/name: prometheus } }
    {{- end }}
  ports:
    {{- range .ports }}
    - { port: {{ . }} }
    {{- end }}
{{- end }}
{{- end -}}

{{- define "parley.dnsRule" -}}
- to:
    {{- toYaml .Values.networkPolicies.dns | nindent 4 }}
  ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end -}}

{{/* The port of an address: (dict "url" "nats://host:4222" "usual" "4222"). */}}
{{- define "parley.portOf" -}}
{{- regexFind ":[0-9]+$" .url | trimPrefix ":" | default .usual -}}
{{- end -}}

{{/* To the collector of traces, if there is one. */}}
{{- define "parley.tracesRule" -}}
{{- with .Values.monitoring.traces.url }}
{{- $url := urlParse . }}
- {{ with $.Values.monitoring.traces.to }}to:
    {{- toYaml . | nindent 4 }}
  {{ end }}ports: [{ port: {{ include "parley.portOf" (dict "url" $url.host "usual" (ternary "443" "80" (eq $url.scheme "https"))) }} }]
{{- end }}
{{- end -}}

{{/* To NATS: the region's own servers, or wherever else they are. */}}
{{- define "parley.natsRule" -}}
{{- if .Values.nats.enabled -}}
- to:
    - {{ include "parley.peer" (dict "root" . "component" "nats") | nindent 6 | trim }}
  ports: [{ port: 4222 }]
{{- else -}}
- ports:
    {{- range .Values.nats.external.urls }}
    - { port: {{ include "parley.portOf" (dict "url" . "usual" "4222") }} }
    {{- end }}
{{- end -}}
{{- end -}}
