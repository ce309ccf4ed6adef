{{/*
Fills the placeholders ${NAME} of a text, as services/turn/src/template.ts does: (dict "text" … "values" (dict …)). A placeholder
without a value and a value without a placeholder are both a template and its file drifting apart.
*/}}
{{- define "parley.fill" -}}
{{- $text := .text -}}
{{- range $name, $value := .values -}}
{{- $placeholder := printf "${%s}" $name -}}
{{- if not (contains $placeholder $text) -}}
{{- fail (printf "the configuration file has no placeholder %s" $placeholder) -}}
{{- end -}}
{{- $text = replace $placeholder (toString $value) $text -}}
{{- end -}}
{{- with regexFind "\\$\\{[A-Z][A-Z0-9_]*\\}" $text -}}
{{- fail (printf "the placeholder %s has no value" .) -}}
{{- end -}}
{{- $text -}}
{{- end -}}
