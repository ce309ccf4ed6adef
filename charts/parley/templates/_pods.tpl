{{/*
What pods have in common: (dict "root" $ "component" "relay"). A component has the name of its section of the values, or says
which one is its ("section").
*/}}

{{/* The image of a component: Parley's own live below image.registry, others are complete. */}}
{{- define "parley.image" -}}
{{- $section := index .root.Values (.section | default .component) -}}
{{- $image := $section.image -}}
{{- if has (.section | default .component) (list "nats" "edge") -}}
{{ include "parley.imageOf" (dict "root" .root "repository" $image.repository "tag" $image.tag "digest" $image.digest) }}
{{- else -}}
{{- $tag := $image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{ include "parley.imageOf" (dict "root" .root "repository" (printf "%s/%s" .root.Values.image.registry $image.repository) "tag" $tag "digest" $image.digest) }}
{{- end -}}
{{- end -}}

{{/* The name of an image, in the registry that all come from if there is one: (dict "root" $ "repository" … "tag" … "digest" …). */}}
{{- define "parley.imageOf" -}}
{{- $repository := .repository -}}
{{- with .root.Values.global.imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") -}}
{{- end -}}
{{- if .digest -}}
{{ $repository }}@{{ .digest }}
{{- else -}}
{{ $repository }}:{{ .tag }}
{{- end -}}
{{- end -}}

{{/*
Metadata of a pod; "checksum" is of texts whose change restarts pods. No version is in it: an upgrade of the chart restarts only the pods that it
changes.
*/}}
{{- define "parley.podMetadata" -}}
labels:
  {{- include "parley.selectorOf" . | nindent 2 }}
  app.kubernetes.io/part-of: parley
  {{- with .root.Values.pods.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .checksum .root.Values.pods.annotations }}
annotations:
  {{- with .checksum }}
  checksum/config: {{ . }}
  {{- end }}
  {{- with .root.Values.pods.annotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
The beginning of a pod's spec. Service links are off for more than tidiness: Kubernetes would set PARLEY_…_SERVICE_HOST, and
services refuse PARLEY_ names that they do not know.
*/}}
{{- define "parley.podSpec" -}}
{{- $section := index .root.Values (.section | default .component) -}}
serviceAccountName: {{ .serviceAccount | default (include "parley.fullname" .root) }}
automountServiceAccountToken: {{ .token | default false }}
enableServiceLinks: false
{{- with concat .root.Values.image.pullSecrets .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
  {{- end }}
{{- end }}
{{- with $section.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if not .root.Values.pods.clusterAssignsUser }}
  runAsUser: {{ int .root.Values.pods.userId }}
  runAsGroup: {{ int .root.Values.pods.userId }}
  fsGroup: {{ int .root.Values.pods.userId }}
  {{- end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
# Every name below is complete: one query each, instead of one per search domain.
dnsConfig:
  options: [{ name: ndots, value: '1' }]
{{- with $section.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $section.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A pod of something that runs several times leaves a lost node soon: others wait for it, nothing is stored on it. */}}
{{- define "parley.tolerations" -}}
{{- $section := index .root.Values (.section | default .component) -}}
tolerations:
  {{- range list "not-ready" "unreachable" }}
  - { key: node.kubernetes.io/{{ . }}, operator: Exists, effect: NoExecute, tolerationSeconds: {{ int $.root.Values.pods.nodeLossSeconds }} }
  {{- end }}
  {{- with $section.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Over zones and nodes. Pods of one version count among themselves, so that a rollout ends as evenly as it began. */}}
{{- define "parley.spread" -}}
{{- $section := index .root.Values (.section | default .component) -}}
topologySpreadConstraints:
  {{- range $key, $when := dict "topology.kubernetes.io/zone" $section.spread.zone "kubernetes.io/hostname" $section.spread.node }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ $when }}
    labelSelector:
      matchLabels:
        {{- include "parley.selectorOf" $ | nindent 8 }}
    {{- if $.hashLabel }}
    matchLabelKeys: [{{ $.hashLabel }}]
    {{- end }}
  {{- end }}
{{- end -}}

{{/* What every container gives up. */}}
{{- define "parley.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* A probe of a path: (dict "path" "/readyz" "port" "http" "period" 2 "failures" 3). */}}
{{- define "parley.probe" -}}
httpGet: { path: {{ .path | quote }}, port: {{ .port }} }
periodSeconds: {{ .period }}
timeoutSeconds: 2
failureThreshold: {{ .failures }}
{{- end -}}

{{/* A variable from a Secret: (dict "name" … "secret" … "key" …). */}}
{{- define "parley.secretVariable" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
{{- end -}}

{{/* A variable from the pod's own description: (dict "name" … "path" …). */}}
{{- define "parley.fieldVariable" -}}
- name: {{ .name }}
  valueFrom: { fieldRef: { fieldPath: {{ .path | quote }} } }
{{- end -}}

{{/*
How many there are of what an autoscaler scales: as many as there are now. An upgrade that says nothing would take the field away
that one without an autoscaler had set, and Kubernetes then goes back to one pod. (dict "root" $ "kind" "Deployment" "name" …)
*/}}
{{- define "parley.scaledReplicas" -}}
{{- with lookup "apps/v1" .kind .root.Release.Namespace .name -}}
replicas: {{ int .spec.replicas }}
{{- end -}}
{{- end -}}

{{/*
Another's edge learns only from Kubernetes that a pod is to end, and a moment later: until then the pod goes on as ever. The chart's
Envoy asks pods itself, and tries another one.
*/}}
{{- define "parley.servesOn" -}}
{{- if ne .Values.edge.type "Envoy" -}}
lifecycle:
  preStop: { sleep: { seconds: 5 } }
{{- end -}}
{{- end -}}
