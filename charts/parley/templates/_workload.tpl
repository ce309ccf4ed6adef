{{/*
A workload as it is installed: (dict "root" $ "component" "relay" "text" …), the text of a Deployment, StatefulSet, DaemonSet or Pod. It
adds what operators add to the component's pods, and merges their patch. Without either the text stays as it is. "values" is the path of both if it
is not the component's.
*/}}
{{- define "parley.workload" -}}
{{- $path := .values | default .component -}}
{{- $section := .root.Values -}}
{{- range splitList "." $path -}}
{{- $section = index $section . -}}
{{- end -}}
{{- $object := fromYaml .text -}}
{{- with $object.Error -}}
{{- fail . -}}
{{- end -}}
{{- $template := ternary $object (dig "spec" "template" dict $object) (eq $object.kind "Pod") -}}
{{- $container := first $template.spec.containers -}}
{{- range $key, $more := pick $section.extra "env" "envFrom" "volumeMounts" -}}
{{- $_ := set $container $key (concat (get $container $key | default list) $more) -}}
{{- end -}}
{{- range $key, $more := pick $section.extra "volumes" "containers" "initContainers" "hostAliases" -}}
{{- $_ := set $template.spec $key (concat (get $template.spec $key | default list) $more) -}}
{{- end -}}
{{- range $key, $more := pick $section.extra "labels" "annotations" -}}
{{- $_ := set $template.metadata $key (merge (deepCopy $more) (get $template.metadata $key | default dict)) -}}
{{- end -}}
{{- with $section.extra.topologySpreadConstraints -}}
{{- $_ := set $template.spec "topologySpreadConstraints" . -}}
{{- end -}}
{{- include "parley.refuseTwice" (dict "path" $path "container" $container) -}}
{{- include "parley.mergePatch" (dict "into" $object "patch" $section.patch) -}}
{{- include "parley.refuseLost" (dict "path" $path "object" $object "selector" (include "parley.selectorOf" . | fromYaml)) -}}
{{- if or $section.extra $section.patch -}}
{{ toYaml $object }}
{{- else -}}
{{ .text | trim }}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a workload. */}}
{{- define "parley.selectorOf" -}}
{{ include "parley.selector" . }}
{{- with .role }}
parley.dev/relay-role: {{ . }}
{{- end }}
{{- end -}}

{{/* A JSON merge patch (RFC 7396), in place: `null` takes away, objects are merged, anything else replaces: (dict "into" … "patch" …). */}}
{{- define "parley.mergePatch" -}}
{{- $into := .into -}}
{{- range $key, $value := .patch -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $into $key -}}
{{- else if kindIs "map" $value -}}
{{- if not (kindIs "map" (get $into $key)) -}}
{{- $_ := set $into $key dict -}}
{{- end -}}
{{- include "parley.mergePatch" (dict "into" (get $into $key) "patch" $value) -}}
{{- else -}}
{{- $_ := set $into $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Of two variables of one name Kubernetes takes the last, without a word. */}}
{{- define "parley.refuseTwice" -}}
{{- $names := list -}}
{{- range .container.env -}}
{{- if has .name $names -}}
{{- fail (printf "%s.extra.env has %s, which is there already: name each variable once; for what the chart sets there is a value" $.path .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{/* A workload that no longer selects its pods is refused by Kubernetes in the middle of an upgrade, and Services and policies lose them. */}}
{{- define "parley.refuseLost" -}}
{{- $pod := eq .object.kind "Pod" -}}
{{- $labels := ternary .object.metadata.labels (dig "spec" "template" "metadata" "labels" dict .object) $pod -}}
{{- range $key, $value := .selector -}}
{{- if ne (get $labels $key | toString) $value -}}
{{- fail (printf "pods of %s would have the label %s: %s, and are found by %s: take it out of %s.extra.labels, %s.patch or pods.labels" $.path $key (get $labels $key | toString) $value $.path $.path) -}}
{{- end -}}
{{- end -}}
{{- if and (not $pod) (ne (toJson .object.spec.selector) (toJson (dict "matchLabels" .selector))) -}}
{{- fail (printf "%s.patch changes spec.selector, which Kubernetes does not allow: take it out" .path) -}}
{{- end -}}
{{- end -}}
