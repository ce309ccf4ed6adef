{{/* What `helm test` needs to know. */}}

{{/* Whether there is something to test: with another's edge only what has a name can be found. */}}
{{- define "parley.isTested" -}}
{{- if and .Values.doctor.enabled (or (eq .Values.edge.type "Envoy") .Values.host) }}yes{{ end -}}
{{- end -}}

{{/* The arguments of the doctor, a line each. */}}
{{- define "parley.doctorArguments" -}}
{{- $edge := include "parley.dns" (dict "root" . "service" "edge") -}}
{{- $port := int .Values.publicPort -}}
- doctor
- {{ include "parley.origin" . | default (printf "https://%s:%d" $edge $port) }}
# A Service may be known a moment later than its pods are ready.
- --wait=60
{{- if eq .Values.edge.type "Envoy" }}
{{- if .Values.host }}
# The name may lead nowhere yet, and not every network leads pods to an address outside of it.
- --connect-to={{ .Values.host }}:{{ $port }}:{{ $edge }}:{{ $port }}
{{- end }}
{{- if and .Values.turn.enabled .Values.turn.tls443.enabled }}
- --connect-to={{ .Values.turn.host }}:443:{{ $edge }}:{{ $port }}
{{- end }}
{{- if or (eq .Values.edge.tls.source "SelfSigned") (not .Values.host) }}
- --insecure
{{- end }}
{{- end }}
{{- $skipped := list -}}
{{- if not .Values.turn.enabled }}{{ $skipped = append $skipped "turn" }}{{ end -}}
{{- if not .Values.relay.media.enabled }}{{ $skipped = append $skipped "media" }}{{ end -}}
{{- with uniq (concat $skipped .Values.doctor.skip) }}
- --skip={{ join "," . }}
{{- end }}
{{- end -}}

{{/* Ports of TURN, those of the nodes and those that clients receive, without those of the edge. */}}
{{- define "parley.doctorTurnPorts" -}}
{{- $ports := list -}}
{{- if and .Values.turn.enabled (not .Values.turn.urls) -}}
{{- range $protocol := list "UDP" "TCP" -}}
{{- $ports = append $ports (printf "- { port: %d, protocol: %s }" (int $.Values.turn.ports.listen) $protocol) -}}
{{- end -}}
{{- end -}}
{{- $byEdge := and (eq .Values.edge.type "Envoy") .Values.turn.enabled .Values.turn.tls443.enabled | ternary (printf "turns:%s:443" .Values.turn.host) "-" -}}
{{- range compact (splitList "," (include "parley.turnUrls" .)) -}}
{{- if not (hasPrefix $byEdge .) -}}
{{- $usual := hasPrefix "turns:" . | ternary "5349" "3478" -}}
{{- $port := regexFind ":[0-9]+$" (regexReplaceAll "\\?.*$" . "") | trimPrefix ":" | default $usual -}}
{{- $protocol := or (hasPrefix "turns:" .) (contains "transport=tcp" .) | ternary "TCP" "UDP" -}}
{{- $ports = append $ports (printf "- { port: %s, protocol: %s }" $port $protocol) -}}
{{- end -}}
{{- end -}}
{{- join "\n" (uniq $ports) -}}
{{- end -}}
