{{/* Parts of network policies. A peer is the pods of a component: (dict "root" $ "component" "edge"). */}}

{{- define "parley.peer" -}}
podSelector:
  matchLabels:
    {{- include "parley.selector" . | nindent 4 }}
{{- end -}}

{{/* The sources of HTTP requests of clients to pods: the edge, or the namespace of the Gateway; with neither, the cluster. */}}
{{- define "parley.edgePeers" -}}
{{- if eq .Values.edge.type "Envoy" -}}
- {{ include "parley.peer" (dict "root" . "component" "edge") | nindent 2 | trim }}
{{- else -}}
- namespaceSelector: { matchLabels: {{ .Values.gatewayApi.namespaceLabels | toJson }} }
{{- end -}}
{{- end -}}

{{/* The namespace that scrapes metrics, as a rule: (dict "root" $ "ports" (list 8101)). */}}
{{- define "parley.scrapeRule" -}}
{{- if .root.Values.networkPolicies.monitoringNamespaceLabels }}
- from:
    - namespaceSelector: { matchLabels: {{ .root.Values.networkPolicies.monitoringNamespaceLabels | toJson }} }
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
