{{/* Names of Secrets: existing ones, or those this chart generates. */}}

{{- define "parley.keysSecret" -}}
{{- .Values.secrets.keys.existingSecret | default (printf "%s-keys" (include "parley.fullname" .)) -}}
{{- end -}}

{{- define "parley.turnSecret" -}}
{{- .Values.secrets.turn.existingSecret | default (printf "%s-turn" (include "parley.fullname" .)) -}}
{{- end -}}

{{- define "parley.natsSecret" -}}
{{- .Values.secrets.nats.existingSecret | default (printf "%s-nats" (include "parley.fullname" .)) -}}
{{- end -}}

{{- define "parley.natsTlsSecret" -}}
{{- .Values.secrets.natsTls.existingSecret | default (printf "%s-nats-tls" (include "parley.fullname" .)) -}}
{{- end -}}

{{- define "parley.tlsSecret" -}}
{{- if eq .Values.edge.tls.source "Secret" -}}
{{- .Values.edge.tls.existingSecret -}}
{{- else -}}
{{- include "parley.fullname" . }}-tls
{{- end -}}
{{- end -}}

{{/* The data of a Secret of this release as it is in the cluster, YAML; empty at the first install and without a cluster. */}}
{{- define "parley.kept" -}}
{{- $found := lookup "v1" "Secret" .root.Release.Namespace .name -}}
{{- get ($found | default dict) "data" | default dict | toYaml -}}
{{- end -}}

{{/* A value that is kept once it was made, base64: (dict "kept" $data "key" … "made" …). */}}
{{- define "parley.once" -}}
{{- get .kept .key | default (.made | b64enc) -}}
{{- end -}}

{{/* base64 to base64url without padding (RFC 7515, 2). */}}
{{- define "parley.base64url" -}}
{{- . | replace "+" "-" | replace "/" "_" | replace "=" "" -}}
{{- end -}}

{{/*
A new key set as JSON {"private": …, "public": …}. The private part of an Ed25519 key is the last 32 of the 48 bytes of its
PKCS #8 form (RFC 8410, 7). Its public part Helm has no function for, but a certificate of the key holds it, right after the
eleven bytes that announce such a key.
*/}}
{{- define "parley.newKeys" -}}
{{- $pem := genPrivateKey "ed25519" -}}
{{- $der := regexReplaceAll "-----[A-Z ]+-----|\\s" $pem "" | b64dec -}}
{{- $certificate := (genSelfSignedCertWithKey "parley" nil nil 1 $pem).Cert -}}
{{- $certificateDer := regexReplaceAll "-----[A-Z ]+-----|\\s" $certificate "" | b64dec -}}
{{- $announced := splitList "\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00" $certificateDer -}}
{{- $x := index $announced 1 | substr 0 32 | b64enc | include "parley.base64url" -}}
{{- $d := substr 16 48 $der | b64enc | include "parley.base64url" -}}
{{- $kid := sha256sum $x | trunc 12 -}}
{{- $public := dict "kty" "OKP" "crv" "Ed25519" "kid" $kid "x" $x -}}
{{- $private := merge (dict "d" $d) $public -}}
{{- dict
      "private" (dict "active" $kid "keys" (list $private) | toJson)
      "public" (dict "active" $kid "keys" (list $public) | toJson)
    | toJson -}}
{{- end -}}
