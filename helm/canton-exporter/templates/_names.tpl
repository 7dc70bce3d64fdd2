{{/* Names and labels. A name is cut where Kubernetes takes no more. */}}

{{- define "canton-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | lower | trunc 63 | trimAll "-" -}}
{{- end -}}

{{- define "canton-exporter.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride | lower -}}
{{- $whole := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default ($whole | replace "." "-") .Values.fullnameOverride | trunc 63 | trimAll "-" -}}
{{- end -}}

{{- define "canton-exporter.suffixed" -}}
{{/* (list $ SUFFIX [LENGTH]): the full name with a suffix, within the length */}}
{{- $suffix := index . 1 -}}
{{- $length := 63 -}}{{- if gt (len .) 2 -}}{{- $length = index . 2 -}}{{- end -}}
{{- include "canton-exporter.fullname" (index . 0) | trunc (sub $length (len $suffix) | int) | trimAll "-" -}}{{- $suffix -}}
{{- end -}}

{{/* A StatefulSet's pods have its name and more in a label of 63 characters. */}}
{{- define "canton-exporter.statefulset" -}}
{{- include "canton-exporter.suffixed" (list . "" 52) -}}
{{- end -}}

{{- define "canton-exporter.headless" -}}
{{- include "canton-exporter.suffixed" (list . "-shards") -}}
{{- end -}}

{{- define "canton-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* (list $ NAMESPACE): the name of what is in a namespace that other releases may use too */}}
{{- define "canton-exporter.shared" -}}
{{- $own := include "canton-exporter.namespace" (index . 0) -}}
{{- $other := default $own (index . 1) -}}
{{- $name := include "canton-exporter.fullname" (index . 0) -}}
{{- ternary $name (list $own $name | compact | join "-") (eq $own $other) -}}
{{- end -}}

{{- define "canton-exporter.serviceAccount" -}}
{{- $account := .Values.serviceAccount -}}
{{- default (ternary (include "canton-exporter.fullname" .) "default" (default false $account.create)) $account.name -}}
{{- end -}}

{{- define "canton-exporter.selector" -}}
app.kubernetes.io/name: {{ include "canton-exporter.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "canton-exporter.testSelector" -}}
app.kubernetes.io/name: {{ printf "%s-test" (include "canton-exporter.name" . | trunc 58 | trimAll "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "canton-exporter.labels" -}}
{{ include "canton-exporter.selector" . }}
{{ include "canton-exporter.ownLabels" . }}
{{- end -}}

{{- define "canton-exporter.ownLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: canton-exporter
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimAll "-" }}
{{- end -}}

{{/* (list $ NAME [OWN]): the metadata of an object; OWN has `labels`, `annotations`, `namespace` of its own */}}
{{- define "canton-exporter.metadata" -}}
{{- $ := index . 0 -}}
{{- $own := dict -}}{{- if gt (len .) 2 -}}{{- $own = index . 2 -}}{{- end -}}
{{- $labels := merge (include "canton-exporter.labels" $ | fromYaml) (default dict $own.labels) (default dict $.Values.commonLabels) -}}
{{- $annotations := merge (dict) (default dict $own.annotations) (default dict $.Values.commonAnnotations) -}}
metadata:
  name: {{ index . 1 | quote }}
  namespace: {{ default (include "canton-exporter.namespace" $) $own.namespace | quote }}
  labels: {{- toYaml $labels | nindent 4 }}
  {{- with $annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "canton-exporter.image" -}}
{{- $image := .Values.image -}}
{{- $registry := default $image.registry (default dict .Values.global).imageRegistry -}}
{{- $whole := list (default "" $registry | trimSuffix "/") $image.repository | compact | join "/" -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $whole $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $whole (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "canton-exporter.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat (default list (default dict .Values.global).imagePullSecrets) (default list .Values.imagePullSecrets) -}}
{{- $secrets = append $secrets (ternary . (dict "name" .) (kindIs "map" .)) -}}
{{- end -}}
{{- include "canton-exporter.unique" (list (list $secrets) "name") -}}
{{- end -}}

{{/* (list $ PATH): a path of the exporter, behind its prefix */}}
{{- define "canton-exporter.path" -}}
{{- $web := (index . 0).Values.web -}}
{{- $prefix := default (get (urlParse (default "" $web.externalUrl)) "path") $web.routePrefix | trimAll "/" -}}
{{- $path := index . 1 | trimAll "/" -}}
{{- printf "/%s" (list $prefix $path | compact | join "/") -}}
{{- end -}}

{{- define "canton-exporter.scheme" -}}
{{- default (ternary "https" "http" (not (empty .Values.web.tlsSecret))) .Values.web.scheme -}}
{{- end -}}

{{/* (list MAPPING ...): lays mappings one over the other, key by key, the first on top */}}
{{- define "canton-exporter.joined" -}}
{{- $joined := dict -}}
{{- range reverse . -}}{{- range $key, $value := . -}}{{- $_ := set $joined $key $value -}}{{- end -}}{{- end -}}
{{- toYaml $joined -}}
{{- end -}}

{{/* (list LISTS KEY): joins lists of mappings; of those with one KEY the last counts, as the API refuses both */}}
{{- define "canton-exporter.unique" -}}
{{- $key := index . 1 -}}
{{- $names := list -}}{{- $found := dict -}}
{{- range $each := index . 0 -}}{{- range $each -}}
{{- $name := get . $key | toString -}}
{{- if not (hasKey $found $name) -}}{{- $names = append $names $name -}}{{- end -}}
{{- $_ := set $found $name . -}}
{{- end -}}{{- end -}}
{{- $list := list -}}
{{- range $names -}}{{- $list = append $list (get $found .) -}}{{- end -}}
{{- toYaml $list -}}
{{- end -}}
