{{/* Where NATS is, and its configuration. */}}

{{/* The servers that pods connect to, by commas. */}}
{{- define "parley.natsUrls" -}}
{{- if .Values.nats.enabled -}}
{{- range $i := until (int .Values.nats.replicas) -}}
{{ if $i }},{{ end }}{{ include "parley.natsScheme" $ }}://{{ include "parley.fullname" $ }}-nats-{{ $i }}.{{ include "parley.dns" (dict "root" $ "service" "nats") }}:4222
{{- end -}}
{{- else -}}
{{ join "," .Values.nats.external.urls }}
{{- end -}}
{{- end -}}

{{/* Of addresses of the region's own servers. */}}
{{- define "parley.natsScheme" -}}
{{- include "parley.natsTls" . | eq "true" | ternary "tls" "nats" -}}
{{- end -}}

{{- define "parley.natsDomain" -}}
{{- .Values.nats.enabled | ternary .Values.region .Values.nats.external.domain -}}
{{- end -}}

{{/* Copies of what is stored. */}}
{{- define "parley.natsReplicas" -}}
{{- .Values.nats.enabled | ternary (min 3 (int .Values.nats.replicas)) (int .Values.nats.external.replicas) -}}
{{- end -}}

{{/*
The variables with addresses that hold a password. In nats-server's configuration a variable is a whole value, not a part of
one, so Kubernetes puts user, password and host together. (dict "root" $ "prefix" "PARLEY_NATS_ROUTE" "user" … "password" the
variable of it "workload" "nats" "replicas" 3 "port" 6222)
*/}}
{{- define "parley.natsAddresses" -}}
{{- range $i := until (int .replicas) }}
- name: {{ $.prefix }}_{{ $i }}
  value: '"{{ include "parley.natsScheme" $.root }}://{{ $.user }}:$({{ $.password }})@{{ include "parley.fullname" $.root }}-{{ $.workload }}-{{ $i }}.{{ include "parley.dns" (dict "root" $.root "service" $.workload) }}:{{ $.port }}"'
{{- end }}
{{- end -}}

{{/* The variable with the password of a relay's user: parley-relay-0 becomes PARLEY_NATS_PARLEY_RELAY_0_PASSWORD. */}}
{{- define "parley.natsVariable" -}}
{{- . | replace "-" "_" | upper -}}
{{- end -}}

{{/* The users of the relays: files/nats-relay.conf for each that there may come to be. MARK: what its one-use codes begin with. */}}
{{- define "parley.natsRelays" -}}
{{- range splitList "," (include "parley.relayNames" .) }}
{{- include "parley.fill" (dict "text" ($.Files.Get "files/nats-relay.conf") "values" (dict
  "NAME" .
  "VARIABLE" (include "parley.natsVariable" .)
  "REGION" $.Values.region
  "MARK" (sha256sum . | trunc 8)
)) }}
{{- end }}
{{- end -}}

{{/* The region's servers: files/nats.conf, and what one server on one machine has no need of. */}}
{{- define "parley.natsConf" -}}
{{- include "parley.fill" (dict "text" (.Files.Get "files/nats.conf") "values" (dict
  "SERVER_NAME" "$PARLEY_NATS_SERVER_NAME"
  "LISTEN" "0.0.0.0:4222"
  "MONITOR" "0.0.0.0:8222"
  "STORE_DIR" "/data"
  "DOMAIN" .Values.region
  "MAX_MEMORY" .Values.nats.jetstream.maxMemory
  "MAX_FILE" .Values.nats.jetstream.maxFile
  "RELAYS" (include "parley.natsRelays" .)
)) }}
pid_file: "/run/nats/nats.pid"
# A server that is to end moves its leaderships and asks clients to leave, over half a minute: its pod's preStop says when.
lame_duck_grace_period: "5s"
lame_duck_duration: "30s"
{{- if include "parley.natsTls" . }}

# The monitoring port stays without TLS: it is for the pod's own probes.
{{ include "parley.natsTlsBlock" (dict "verify" false "first" true) }}
{{- end }}
{{- if gt (int .Values.nats.replicas) 1 }}

cluster {
  # The gateway servers' cluster has the region's name, and takes no leaf of the same one.
  name: {{ .Values.region }}-servers
  listen: 0.0.0.0:6222
  authorization { user: cluster, password: $PARLEY_NATS_CLUSTER_PASSWORD, timeout: 2 }
  routes: [{{ range $i := until (int .Values.nats.replicas) }}{{ if $i }}, {{ end }}$PARLEY_NATS_ROUTE_{{ $i }}{{ end }}]
  {{- if include "parley.natsTls" . }}
  # Clients know all servers by their names; addresses, which servers would tell them, are in no certificate.
  no_advertise: true
  {{ include "parley.natsTlsBlock" (dict "verify" true) | nindent 2 | trim }}
  {{- end }}
}
{{- end }}
{{- if .Values.nats.gateways.enabled }}

# Other regions are reached through gateway servers. What is stored stays here.
leafnodes {
  remotes: [
    {
      urls: [{{ range $i := until (int .Values.nats.gateways.replicas) }}{{ if $i }}, {{ end }}$PARLEY_NATS_LEAF_{{ $i }}{{ end }}]
      account: PARLEY
      {{- if include "parley.natsTls" . }}
      {{ include "parley.natsTlsBlock" (dict "verify" true "first" true) | nindent 6 | trim }}
      {{- end }}
      deny_imports: ["$KV.>", "$JS.>"]
      deny_exports: ["$KV.>", "$JS.>"]
    }
  ]
}
{{- end }}
{{- end -}}

{{/* The gateway servers: messages between regions, no storage, no clients. */}}
{{- define "parley.natsGatewayConf" -}}
# Leads the region's messages to other regions and theirs here. It stores nothing and no client connects to it.
server_name: $PARLEY_NATS_SERVER_NAME
listen: 127.0.0.1:4222
http: 0.0.0.0:8222
pid_file: "/run/nats/nats.pid"

ping_interval: "1s"
ping_max: 2
write_deadline: "5s"
max_payload: 1MB
lame_duck_grace_period: "5s"
lame_duck_duration: "30s"

accounts {
  PARLEY {}
  SYS {}
}
system_account: SYS

leafnodes {
  listen: 0.0.0.0:7422
  authorization { user: gateway, password: $PARLEY_NATS_GATEWAY_PASSWORD, account: PARLEY, timeout: 2 }
  {{- if include "parley.natsTls" . }}
  {{ include "parley.natsTlsBlock" (dict "verify" true "first" true) | nindent 2 | trim }}
  {{- end }}
}
{{- if gt (int .Values.nats.gateways.replicas) 1 }}

cluster {
  name: {{ .Values.region }}
  listen: 0.0.0.0:6222
  authorization { user: cluster, password: $PARLEY_NATS_CLUSTER_PASSWORD, timeout: 2 }
  routes: [{{ range $i := until (int .Values.nats.gateways.replicas) }}{{ if $i }}, {{ end }}$PARLEY_NATS_ROUTE_{{ $i }}{{ end }}]
  {{- if include "parley.natsTls" . }}
  {{ include "parley.natsTlsBlock" (dict "verify" true) | nindent 2 | trim }}
  {{- end }}
}
{{- end }}

gateway {
  name: {{ .Values.region }}
  listen: 0.0.0.0:7222
  # A region that is not named here is not let in.
  reject_unknown_cluster: true
  {{- if .Values.nats.gateways.tlsSecret }}
  tls {
    cert_file: "/etc/nats/tls/tls.crt"
    key_file: "/etc/nats/tls/tls.key"
    ca_file: "/etc/nats/tls/ca.crt"
    verify: true
  }
  {{- end }}
  gateways: [
    {{- range .Values.nats.gateways.remotes }}
    { name: {{ .name }}, urls: {{ .urls | toJson }} }
    {{- end }}
  ]
}
{{- end -}}

{{/* Ending a server: lame duck mode first, and it decides itself when it is done. */}}
{{- define "parley.natsLifecycle" -}}
preStop:
  exec: { command: [nats-server, --signal, ldm=/run/nats/nats.pid] }
{{- end -}}
