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

{{/* Lines of the spec of a Service: its IP families and their policy, where they are given; otherwise the cluster decides. */}}
{{- define "parley.ipFamilies" -}}
{{- $policy := .Values.ipFamilyPolicy -}}
{{- with .Values.ipFamilies }}
  ipFamilies: {{ toJson . }}
{{- $policy = $policy | default (len . | eq 2 | ternary "RequireDualStack" "SingleStack") -}}
{{- end }}
{{- with $policy }}
  ipFamilyPolicy: {{ . }}
{{- end }}
{{- end -}}

{{/*
The address that pods listen on: all of them. Of IPv4 alone unless IPv6 is among the families of Services, as a node whose kernel has no
IPv6 refuses to listen on [::].
*/}}
{{- define "parley.anyAddress" -}}
{{- has "IPv6" .Values.ipFamilies | ternary "[::]" "0.0.0.0" -}}
{{- end -}}

{{/* A host in a URL: Kubernetes fills HOST_IP with an address of either family, and one of IPv6 needs brackets. Relays take them off IPv4. */}}
{{- define "parley.urlHost" -}}
{{- eq . "$(HOST_IP)" | ternary "[$(HOST_IP)]" . -}}
{{- end -}}

{{/* Lines of the spec of a Service of type LoadBalancer: which one it is, and whom it lets in: (dict "class" … "ranges" …). */}}
{{- define "parley.loadBalancer" -}}
{{- with .class }}
  loadBalancerClass: {{ . }}
{{- end }}
{{- with .ranges }}
  loadBalancerSourceRanges: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* A Kubernetes quantity as text: YAML has plain numbers of bytes, too. */}}
{{- define "parley.quantity" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ int64 . }}{{ end -}}
{{- end -}}

{{/* A Kubernetes quantity in bytes: "1Gi", "1.5Gi"; 0 with any other unit. */}}
{{- define "parley.bytes" -}}
{{- $text := include "parley.quantity" . -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- $factor := get (dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624) $unit | default 0 -}}
{{- mulf (trimSuffix $unit $text | float64) (float64 $factor) | int64 -}}
{{- end -}}

{{/* A size as NATS reads it, in bytes: "1G" has a thousand millions, "1GB" and "1GiB" have 2^30. */}}
{{- define "parley.natsBytes" -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $letter := regexFind "^." $unit | upper -}}
{{- $power := get (dict "K" 1 "M" 2 "G" 3 "T" 4) $letter | default 0 | int -}}
{{- $base := ternary 1000 1024 (eq (len $unit) 1) -}}
{{- $bytes := trimSuffix $unit . | int64 -}}
{{- range until $power -}}
{{- $bytes = mul $bytes $base -}}
{{- end -}}
{{- $bytes -}}
{{- end -}}

{{/* The variable of a limit: mesh.participants becomes MESH_MAX, pod.queuedBytes POD_QUEUED_BYTES. */}}
{{- define "parley.limitName" -}}
{{- regexReplaceAll "([a-z0-9])([A-Z])" . "${1}_${2}" | replace "." "_" | upper -}}
{{- end -}}
