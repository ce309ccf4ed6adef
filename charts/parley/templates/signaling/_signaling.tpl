{{/* The STUN and TURN addresses that clients receive while no node has a lease. */}}

{{- define "parley.turnUrls" -}}
{{- $urls := .Values.turn.urls -}}
{{- if and (not $urls) .Values.turn.host -}}
{{- $at := printf "%s:%d" .Values.turn.host (int .Values.turn.ports.listen) -}}
{{- /* With tls443 the name leads to the edge, which takes nothing but TLS for it. */}}
{{- $urls = .Values.turn.tls443.enabled | ternary
      (list (printf "turns:%s:443?transport=tcp" .Values.turn.host))
      (list
        (printf "turn:%s?transport=udp" $at)
        (printf "turn:%s?transport=tcp" $at)
        (printf "turns:%s:%d?transport=tcp" .Values.turn.host (int .Values.turn.ports.tls))) -}}
{{- end -}}
{{- join "," $urls -}}
{{- end -}}

{{- define "parley.stunUrls" -}}
{{- $urls := list -}}
{{- range splitList "," (include "parley.turnUrls" .) -}}
{{- if and (hasPrefix "turn:" .) (hasSuffix "?transport=udp" .) -}}
{{- $urls = append $urls (. | replace "turn:" "stun:" | trimSuffix "?transport=udp") -}}
{{- end -}}
{{- end -}}
{{- join "," $urls -}}
{{- end -}}
