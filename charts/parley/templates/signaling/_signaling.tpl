{{/* Where clients are told that STUN and TURN are. */}}

{{- define "parley.turnUrls" -}}
{{- $urls := .Values.turn.urls -}}
{{- if and (not $urls) .Values.turn.host -}}
{{- $at := printf "%s:%d" .Values.turn.host (int .Values.turn.ports.listen) -}}
{{- $tls := .Values.turn.tls443.enabled | ternary 443 .Values.turn.ports.tls -}}
{{- $urls = list
      (printf "turn:%s?transport=udp" $at)
      (printf "turn:%s?transport=tcp" $at)
      (printf "turns:%s:%d?transport=tcp" .Values.turn.host (int $tls)) -}}
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
