{{/* Names and labels. */}}

{{- define "parley.chart" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{/* What the names of all objects begin with. Short enough that the longest pod name stays a DNS label. */}}
{{- define "parley.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 30 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "parley.chart" . -}}
{{- contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) | trunc 30 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component: (dict "root" $ "component" "signaling"). They never change. */}}
{{- define "parley.selector" -}}
app.kubernetes.io/name: {{ include "parley.chart" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/part-of: parley
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The name in DNS of a Service: (dict "root" $ "service" "nats"). */}}
{{- define "parley.dns" -}}
{{ include "parley.fullname" .root }}-{{ .service }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end -}}

{{/* Where people open Parley; empty without a host. */}}
{{- define "parley.origin" -}}
{{- if .Values.host -}}
https://{{ .Values.host }}{{ if ne (int .Values.publicPort) 443 }}:{{ int .Values.publicPort }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Every region and its address, as signaling reads them: "eu=https://eu.example.com,us=https://us.example.com". */}}
{{- define "parley.regions" -}}
{{- $regions := list -}}
{{- range .Values.regions -}}
{{- $regions = append $regions (printf "%s=%s" .name .url) -}}
{{- end -}}
{{- join "," $regions -}}
{{- end -}}

{{/* Origins whose pages may use this region: those that are allowed, and those of all regions, by commas. */}}
{{- define "parley.allowedOrigins" -}}
{{- $origins := .Values.allowedOrigins -}}
{{- range .Values.regions -}}
{{- $origins = append $origins .url -}}
{{- end -}}
{{- join "," (uniq $origins) -}}
{{- end -}}

{{/* A Kubernetes quantity of whole numbers, in bytes: "1Gi". */}}
{{- define "parley.bytes" -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- $factor := get (dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824) $unit | default 0 -}}
{{- mul (trimSuffix $unit $text | int64) (int64 $factor) -}}
{{- end -}}

{{/* The variable of a limit: mesh.participants becomes MESH_MAX, pod.queuedBytes POD_QUEUED_BYTES. */}}
{{- define "parley.limitName" -}}
{{- regexReplaceAll "([a-z0-9])([A-Z])" . "${1}_${2}" | replace "." "_" | upper -}}
{{- end -}}
