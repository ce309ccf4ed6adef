{{/* TLS of the region's own NATS servers: docs/adr/0021-tls-of-nats.md. */}}

{{/* Whether they use it; empty: not. */}}
{{- define "parley.natsTls" -}}
{{- if and .Values.nats.enabled .Values.nats.tls.enabled }}true{{ end -}}
{{- end -}}

{{/* Whether clients are given a CA, for these servers or for external ones; empty: not. */}}
{{- define "parley.natsCa" -}}
{{- if or (include "parley.natsTls" .) (and (not .Values.nats.enabled) .Values.secrets.natsTls.existingSecret) }}true{{ end -}}
{{- end -}}

{{/* What the certificate is for, by commas: servers and gateway servers by their Services and by pod, and a forwarded port. */}}
{{- define "parley.natsNames" -}}
{{- range $service := list "nats" "nats-gateway" -}}
{{- $host := include "parley.dns" (dict "root" $ "service" $service) -}}
{{ $host }},*.{{ $host }},{{ include "parley.fullname" $ }}-{{ $service }}.{{ $.Release.Namespace }}.svc,
{{- end -}}
localhost
{{- end -}}

{{/*
Settings of a server's connections: (dict "verify" …). With "verify" both ends show the certificate, without it only the server does.
Routes begin with the handshake by themselves, others where it is said ("first").
*/}}
{{- define "parley.natsTlsBlock" -}}
tls {
  cert_file: "/etc/parley/nats-tls/tls.crt"
  key_file: "/etc/parley/nats-tls/tls.key"
  {{- if .verify }}
  ca_file: "/etc/parley/nats-tls/ca.crt"
  verify: true
  {{- end }}
  {{- if .first }}
  handshake_first: true
  {{- end }}
}
{{- end -}}

{{/*
The directories with a server's certificates, by spaces: (dict "root" $ "gateway" …). Those between regions replace theirs also where a region has no TLS
inside.
*/}}
{{- define "parley.natsDirectories" -}}
{{- $directories := list -}}
{{- if include "parley.natsTls" .root -}}
{{- $directories = append $directories "/etc/parley/nats-tls" -}}
{{- end -}}
{{- if and .gateway .root.Values.nats.gateways.tlsSecret -}}
{{- $directories = append $directories "/etc/nats/tls" -}}
{{- end -}}
{{- join " " $directories -}}
{{- end -}}

{{/* How a server is started: (dict "root" $ "gateway" …). It reads its certificates again when they were replaced. */}}
{{- define "parley.natsCommand" -}}
{{- with include "parley.natsDirectories" . -}}
[sh, /etc/parley/nats-run.sh, {{ . }}, --config, /etc/nats/nats.conf]
{{- else -}}
[nats-server, --config, /etc/nats/nats.conf]
{{- end -}}
{{- end -}}

{{/* The script of that command, in the server's ConfigMap. */}}
{{- define "parley.natsScript" -}}
{{- if include "parley.natsDirectories" . -}}
nats-run.sh: |
  {{- .root.Files.Get "files/nats-run.sh" | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Of a server's container: (dict "root" $ "gateway" …). */}}
{{- define "parley.natsTlsMounts" -}}
{{- if include "parley.natsDirectories" . -}}
- { name: configuration, mountPath: /etc/parley/nats-run.sh, subPath: nats-run.sh, readOnly: true }
{{- end -}}
{{- if include "parley.natsTls" .root }}
- { name: region-tls, mountPath: /etc/parley/nats-tls, readOnly: true }
{{- end -}}
{{- end -}}

{{- define "parley.natsTlsVolume" -}}
{{- if include "parley.natsTls" . -}}
- name: region-tls
  secret: { secretName: {{ include "parley.natsTlsSecret" . }} }
{{- end -}}
{{- end -}}

{{/* Of a client's container: a directory, as a file alone would stay what it was when its Secret changes. */}}
{{- define "parley.natsCaMount" -}}
{{- if include "parley.natsCa" . -}}
- { name: nats-ca, mountPath: /etc/parley/nats-ca, readOnly: true }
{{- end -}}
{{- end -}}

{{- define "parley.natsCaVolume" -}}
{{- if include "parley.natsCa" . -}}
- name: nats-ca
  secret: { secretName: {{ include "parley.natsTlsSecret" . }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end -}}
{{- end -}}

{{/* The variable of a client: (dict "root" $ "name" …). */}}
{{- define "parley.natsCaVariable" -}}
{{- if include "parley.natsCa" .root -}}
- { name: {{ .name }}, value: /etc/parley/nats-ca/ca.crt }
{{- end -}}
{{- end -}}
