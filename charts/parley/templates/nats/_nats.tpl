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
  "LISTEN" (printf "%s:4222" (include "parley.anyAddress" .))
  "MONITOR" (printf "%s:8222" (include "parley.anyAddress" .))
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
  listen: "{{ include "parley.anyAddress" . }}:6222"
  authorization { user: cluster, password: $PARLEY_NATS_CLUSTER_PASSWORD, timeout: 2 }
  routes: [{{ include "parley.natsAddressNames" (dict "prefix" "$PARLEY_NATS_ROUTE" "count" .Values.nats.replicas) }}]
  {{- if include "parley.natsTls" . }}
  # Clients know all servers by their names; addresses, which servers would tell them, are in no certificate.
  no_advertise: true
  {{ include "parley.natsTlsBlock" (dict "verify" true) | nindent 2 | trim }}
  {{- end }}
}
{{- end }}
{{- if .Values.nats.gateways.enabled }}

{{ include "parley.fill" (dict "text" (.Files.Get "files/nats-leaf.conf") "values" (dict
  "GATEWAYS" (include "parley.natsAddressNames" (dict "prefix" "$PARLEY_NATS_LEAF" "count" .Values.nats.gateways.replicas))
  "TLS" (empty (include "parley.natsTls" .) | ternary "" (include "parley.natsTlsBlock" (dict "verify" true "first" true) | nindent 6))
)) | trim }}
{{- end }}
{{- end -}}

{{/* The gateway servers: files/nats-gateway.conf, and what one server on one machine has no need of. */}}
{{- define "parley.natsGatewayConf" -}}
{{- $tls := empty (include "parley.natsTls" .) | ternary "" (include "parley.natsTlsBlock" (dict "verify" true "first" true) | nindent 2) -}}
{{- include "parley.fill" (dict "text" (.Files.Get "files/nats-gateway.conf") "values" (dict
  "SERVER_NAME" "$PARLEY_NATS_SERVER_NAME"
  "MONITOR" (printf "%s:8222" (include "parley.anyAddress" .))
  "LISTEN" "127.0.0.1:4222"
  "LEAF_LISTEN" (printf "%s:7422" (include "parley.anyAddress" .))
  "LEAF_TLS" $tls
  "REGION" .Values.region
  "GATEWAY_LISTEN" (printf "%s:7222" (include "parley.anyAddress" .))
  "GATEWAY_TLS" (empty .Values.nats.gateways.tlsSecret | ternary "" (include "parley.natsGatewayTls" . | nindent 2))
  "ADVERTISE" (empty .Values.nats.gateways.advertise | ternary "" (printf "\n  # Addresses of pods, which servers would give otherwise, lead nowhere in other regions.\n  advertise: %q" .Values.nats.gateways.advertise))
  "REJECT_UNKNOWN" (include "parley.natsAdmitsByCertificate" . | empty)
  "REMOTES" (include "parley.natsRemotes" .)
)) }}
pid_file: "/run/nats/nats.pid"
lame_duck_grace_period: "5s"
lame_duck_duration: "30s"
{{- if gt (int .Values.nats.gateways.replicas) 1 }}

cluster {
  name: {{ .Values.region }}
  listen: "{{ include "parley.anyAddress" . }}:6222"
  authorization { user: cluster, password: $PARLEY_NATS_CLUSTER_PASSWORD, timeout: 2 }
  routes: [{{ include "parley.natsAddressNames" (dict "prefix" "$PARLEY_NATS_ROUTE" "count" .Values.nats.gateways.replicas) }}]
  {{- if include "parley.natsTls" . }}
  {{ include "parley.natsTlsBlock" (dict "verify" true) | nindent 2 | trim }}
  {{- end }}
}
{{- end }}
{{- end -}}

{{/*
Whether the certificate alone decides which regions are let in; empty: they have to be named, too. An added region then connects by itself and is
dialled at the address that it advertises.
*/}}
{{- define "parley.natsAdmitsByCertificate" -}}
{{- if and .Values.nats.gateways.tlsSecret .Values.nats.gateways.advertise }}true{{ end -}}
{{- end -}}

{{/* What the gateway servers restart for. nats-server reads other remotes only when it starts: an added region need not wait for that. */}}
{{- define "parley.natsGatewayChecksum" -}}
{{- $conf := include "parley.natsGatewayConf" . -}}
{{- if include "parley.natsAdmitsByCertificate" . -}}
{{- $conf = replace (include "parley.natsRemotes" .) "" $conf -}}
{{- end -}}
{{- print $conf (include "parley.natsScript" (dict "root" . "gateway" true)) | sha256sum -}}
{{- end -}}

{{- define "parley.natsGatewayTls" -}}
tls {
  cert_file: "/etc/nats/tls/tls.crt"
  key_file: "/etc/nats/tls/tls.key"
  ca_file: "/etc/nats/tls/ca.crt"
  verify: true
}
{{- end -}}

{{- define "parley.natsRemotes" -}}
{{- range .Values.nats.gateways.remotes }}
    { name: {{ .name }}, urls: {{ .urls | toJson }} }
{{- end }}
{{- end -}}

{{/* The names of such variables, by commas: (dict "prefix" "$PARLEY_NATS_ROUTE" "count" 3). */}}
{{- define "parley.natsAddressNames" -}}
{{- range $i := until (int .count) }}{{ if $i }}, {{ end }}{{ $.prefix }}_{{ $i }}{{ end }}
{{- end -}}

{{/* Ending a server: lame duck mode first, and it decides itself when it is done. */}}
{{- define "parley.natsLifecycle" -}}
preStop:
  exec: { command: [nats-server, --signal, ldm=/run/nats/nats.pid] }
{{- end -}}

{{/* Beside a server: its monitoring as metrics for Prometheus. The server's name is a label of each. */}}
{{- define "parley.natsExporter" -}}
{{- if .Values.nats.exporter.enabled -}}
- name: exporter
  image: {{ include "parley.imageOf" (dict "root" . "repository" .Values.nats.exporter.image.repository "tag" .Values.nats.exporter.image.tag "digest" .Values.nats.exporter.image.digest) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: [-port, '7777', -use_internal_server_name, -varz, -routez, -gatewayz, -jsz, streams, -healthz_js_enabled_only, 'http://localhost:8222']
  ports:
    - { name: metrics, containerPort: 7777 }
  livenessProbe:
    {{- include "parley.probe" (dict "path" "/metrics" "port" "metrics" "period" 30 "failures" 3) | nindent 4 }}
  resources:
    {{- toYaml .Values.nats.exporter.resources | nindent 4 }}
  securityContext:
    {{- include "parley.containerSecurity" . | nindent 4 }}
{{- end -}}
{{- end -}}
