{{/*
Relays are one or two StatefulSets of the same pods: origins, and leaves in front of them. (dict "root" $ "role" "origin")
*/}}

{{- define "parley.relayName" -}}
{{ include "parley.fullname" .root }}-relay{{ if eq .role "leaf" }}-leaf{{ end }}
{{- end -}}

{{/* The roles there are, by commas. */}}
{{- define "parley.relayRoles" -}}
origin{{ if gt (int .Values.relay.leaves.replicas) 0 }},leaf{{ end }}
{{- end -}}

{{/* The role that clients come to. */}}
{{- define "parley.relayFront" -}}
{{- gt (int .Values.relay.leaves.replicas) 0 | ternary "leaf" "origin" -}}
{{- end -}}

{{- define "parley.relayReplicas" -}}
{{- eq .role "leaf" | ternary (int .root.Values.relay.leaves.replicas) (int .root.Values.relay.origins.replicas) -}}
{{- end -}}

{{/* How many there may come to be: each of them has a Service of its own. */}}
{{- define "parley.relayMost" -}}
{{- $scaled := and .root.Values.relay.autoscaling.enabled (eq .role (include "parley.relayFront" .root)) -}}
{{- $scaled | ternary (int .root.Values.relay.autoscaling.maxReplicas) (include "parley.relayReplicas" . | int) -}}
{{- end -}}

{{/*
The names of a role's pods, of all that there may come to be, by commas. Each is a user of NATS. At least ten, so that scaling up to
that changes neither the configuration of NATS nor the template of the relays, and restarts nothing.
*/}}
{{- define "parley.relayNamesOf" -}}
{{- $relay := . -}}
{{- range $i := until (max 10 (include "parley.relayMost" . | int) | int) -}}
{{ if $i }},{{ end }}{{ include "parley.relayName" $relay }}-{{ $i }}
{{- end -}}
{{- end -}}

{{/* The same of all roles. */}}
{{- define "parley.relayNames" -}}
{{- range $at, $role := splitList "," (include "parley.relayRoles" .) -}}
{{ if $at }},{{ end }}{{ include "parley.relayNamesOf" (dict "root" $ "role" $role) }}
{{- end -}}
{{- end -}}

{{/* The UDP port a relay listens on; with LoadBalancer clients dial it too. */}}
{{- define "parley.mediaPort" -}}
{{- eq .role "leaf" | ternary (int .root.Values.relay.media.leafPort) (int .root.Values.relay.media.port) -}}
{{- end -}}

{{/* The first port of nodes, with NodePort; the relay's number follows in place of the last zero. */}}
{{- define "parley.mediaNodePort" -}}
{{- eq .role "leaf" | ternary (add 10 (int .root.Values.relay.media.nodePort)) (int .root.Values.relay.media.nodePort) -}}
{{- end -}}

{{/* The UDP ports at which origins of other regions are reached: those that are given, or as this region's own are. */}}
{{- define "parley.regionPorts" -}}
{{- $first := include "parley.mediaNodePort" (dict "root" . "role" "origin") | int -}}
{{- $own := dict "port" (int .Values.relay.media.port) -}}
{{- if eq .Values.relay.media.expose "NodePort" -}}
{{- $own = dict "port" $first "endPort" (add $first 9) -}}
{{- end -}}
{{- .Values.relay.media.regionPorts | default (list $own) | toYaml -}}
{{- end -}}

{{/* Where clients dial a relay. What stands in $( ) Kubernetes fills in for each pod. */}}
{{- define "parley.mediaUrl" -}}
{{- $port := include "parley.mediaPort" . -}}
{{- if eq .root.Values.relay.media.expose "NodePort" -}}
{{- $port = printf "%s$(POD_INDEX)" (include "parley.mediaNodePort" . | trimSuffix "0") -}}
{{- end -}}
https://{{ include "parley.urlHost" .root.Values.relay.media.host }}:{{ $port }}/
{{- end -}}

{{/* The sources that pages connect to relays at, for the application's security policy. */}}
{{- define "parley.mediaSources" -}}
{{- $host := regexReplaceAll "^.*\\$\\([A-Z_]+\\)" .Values.relay.media.host "*" -}}
{{- $sources := list -}}
{{- range splitList "," (include "parley.relayRoles" .) -}}
{{- $relay := dict "root" $ "role" . -}}
{{- $port := eq $.Values.relay.media.expose "NodePort" | ternary "*" (include "parley.mediaPort" $relay) -}}
{{- $sources = append $sources (printf "https://%s:%s" $host $port) -}}
{{- end -}}
{{- join " " (uniq $sources) -}}
{{- end -}}

{{/* What the pages may connect to besides their own origin: relays, and the API and the sockets of all regions: the page may be of another name. */}}
{{- define "parley.connectSources" -}}
{{- $sources := .Values.web.connectSources -}}
{{- if and (not $sources) .Values.relay.media.enabled -}}
{{- $sources = list (include "parley.mediaSources" .) -}}
{{- end -}}
{{- range .Values.regions -}}
{{- $sources = concat $sources (list .url (regexReplaceAll "^http" .url "ws")) -}}
{{- end -}}
{{- join " " $sources -}}
{{- end -}}

{{/*
The hosts of relays that clients may be sent to, by commas: those that are given, or the names of relay.media.host. Empty where they are
addresses of nodes, which the chart does not know.
*/}}
{{- define "parley.mediaHosts" -}}
{{- $host := regexReplaceAll "^.*\\$\\([A-Z_]+\\)[^.]*" .Values.relay.media.host "*" -}}
{{- $own := ne $host "*" | ternary (list $host) list -}}
{{- /* Lists of hosts have addresses without brackets. */}}
{{- join "," (.Values.relay.media.hosts | default $own) | replace "[" "" | replace "]" "" -}}
{{- end -}}

{{/* Whether relays of other regions link to this one: to origins alone. */}}
{{- define "parley.hasPublicLinks" -}}
{{- and .root.Values.relay.publicLinks.enabled (eq .role "origin") -}}
{{- end -}}

{{/* A relay's settings, all by environment: services/relay/README.md. */}}
{{- define "parley.relayEnvironment" -}}
{{- $root := .root -}}
{{- $any := include "parley.anyAddress" $root -}}
{{- include "parley.fieldVariable" (dict "name" "POD_NAME" "path" "metadata.name") }}
{{ include "parley.fieldVariable" (dict "name" "POD_IP" "path" "status.podIP") }}
{{ include "parley.fieldVariable" (dict "name" "HOST_IP" "path" "status.hostIP") }}
{{ include "parley.fieldVariable" (dict "name" "NODE_NAME" "path" "spec.nodeName") }}
{{ include "parley.fieldVariable" (dict "name" "POD_INDEX" "path" "metadata.labels['apps.kubernetes.io/pod-index']") }}
- { name: PARLEY_RELAY_POD, value: $(POD_NAME) }
- { name: PARLEY_RELAY_REGION, value: {{ $root.Values.region | quote }} }
# Kubernetes gives pods their node's zone from 1.35 on; without it the relay says "local".
{{ include "parley.fieldVariable" (dict "name" "PARLEY_RELAY_ZONE" "path" "metadata.labels['topology.kubernetes.io/zone']") }}
- { name: PARLEY_RELAY_LISTEN, value: '{{ $any }}:8111' }
- { name: PARLEY_RELAY_OPS_LISTEN, value: '{{ $any }}:8113' }
- { name: PARLEY_RELAY_LINK_LISTEN, value: '{{ $any }}:8112' }
- { name: PARLEY_RELAY_LINK_ADVERTISE, value: '[$(POD_IP)]:8112' }
{{- if eq (include "parley.hasPublicLinks" .) "true" }}
- { name: PARLEY_RELAY_LINK_LISTEN_PUBLIC, value: '{{ $any }}:{{ int $root.Values.relay.publicLinks.port }}' }
- { name: PARLEY_RELAY_LINK_ADVERTISE_PUBLIC, value: '{{ include "parley.urlHost" $root.Values.relay.publicLinks.host }}:{{ int $root.Values.relay.publicLinks.port }}' }
{{- end }}
- { name: PARLEY_RELAY_TRUSTED_PROXIES, value: {{ add 1 (int $root.Values.edge.trustedHops) | quote }} }
# Without a host the origin of the application is unknown, and any page may open sockets.
{{- with include "parley.origin" $root }}
- { name: PARLEY_RELAY_ORIGINS, value: {{ printf "%s,%s" . (include "parley.allowedOrigins" $root) | splitList "," | compact | uniq | join "," | quote }} }
{{- end }}
- { name: PARLEY_RELAY_NATS, value: {{ include "parley.natsUrls" $root | quote }} }
- { name: PARLEY_RELAY_NATS_USER, value: $(POD_NAME) }
- { name: PARLEY_RELAY_NATS_PASSWORD_FILE, value: /etc/parley/nats-password }
{{- with include "parley.natsCaVariable" (dict "root" $root "name" "PARLEY_RELAY_NATS_CA") }}
{{ . }}
{{- end }}
- { name: PARLEY_RELAY_ACCESS, value: {{ $root.Values.relay.access }} }
{{- if eq $root.Values.relay.access "token" }}
- { name: PARLEY_RELAY_KEYS, value: /etc/parley/keys/keys-public.json }
{{- with $root.Values.secrets.streams.existingSecret }}
{{ include "parley.secretVariable" (dict "name" "PARLEY_RELAY_TOKEN_SECRET" "secret" . "key" "secret") }}
{{- end }}
{{- end }}
{{- with $root.Values.relay.replay }}
{{- $topics := list }}
{{- range $prefix, $messages := . }}
{{- $topics = append $topics (printf "%s=%d" $prefix (int $messages)) }}
{{- end }}
- { name: PARLEY_RELAY_REPLAY, value: {{ join "," $topics | quote }} }
{{- end }}
- { name: PARLEY_RELAY_THREADS, value: {{ int $root.Values.relay.threads | quote }} }
- { name: PARLEY_RELAY_LOG_LEVEL, value: {{ $root.Values.relay.logLevel }} }
{{- if $root.Values.relay.media.enabled }}
- { name: PARLEY_RELAY_MEDIA_LISTEN, value: '{{ $any }}:{{ include "parley.mediaPort" . }}' }
- { name: PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN, value: '{{ $any }}:8151' }
- { name: PARLEY_RELAY_MEDIA_ADVERTISE, value: '[$(POD_IP)]:{{ include "parley.mediaPort" . }}' }
- { name: PARLEY_RELAY_MEDIA_URL, value: {{ include "parley.mediaUrl" . | quote }} }
{{- with include "parley.mediaHosts" $root }}
- { name: PARLEY_RELAY_MEDIA_HOSTS, value: {{ . | quote }} }
{{- end }}
- { name: PARLEY_RELAY_MEDIA_ROLE, value: {{ .role }} }
{{- with $root.Values.monitoring.traces.url }}
- { name: PARLEY_RELAY_MEDIA_TRACES_URL, value: {{ . | quote }} }
{{- end }}
- { name: PARLEY_RELAY_MEDIA_KEYS, value: /etc/parley/keys/keys-public.json }
{{- if eq $root.Values.relay.media.certificates.source "Secret" }}
- { name: PARLEY_RELAY_MEDIA_CERTIFICATE, value: /etc/parley/certificate/tls.crt }
- { name: PARLEY_RELAY_MEDIA_KEY, value: /etc/parley/certificate/tls.key }
{{- else }}
- { name: PARLEY_RELAY_MEDIA_CERTIFICATE_DIR, value: /var/lib/parley/certificates }
{{- end }}
{{- end }}
{{- range $name, $value := $root.Values.relay.limits }}
- { name: PARLEY_RELAY_LIMIT_{{ include "parley.limitName" $name }}, value: {{ int64 $value | quote }} }
{{- end }}
{{- end -}}
