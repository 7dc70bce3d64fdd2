{{/*
What is watched, as YAML: `config` for the file, with no secret in it; `files` for the secrets; `ports` and `hidden` for
the network policy.
*/}}
{{- define "canton-exporter.watched" -}}
{{- $config := include "canton-exporter.filled" (dict "place" "config" "part" (omit .Values.config "targets") "$" .) | fromYaml -}}
{{/* A token may come from what all targets share, and anything from variables of the operator's own. */}}
{{- $hasVariables := or .Values.extraEnv .Values.extraEnvFrom -}}
{{- $read := dict "files" dict "ports" dict "hidden" list "mayHaveToken" $hasVariables "mayHaveUrl" $hasVariables -}}
{{- with $config.defaults -}}{{- include "canton-exporter.target" (dict "place" "config.defaults" "target" . "read" $read) -}}{{- end -}}
{{- $_ := set $read "mayHaveToken" (or (default dict $config.defaults).auth $hasVariables) -}}
{{- $targets := dict -}}
{{- range $name, $part := default dict .Values.config.targets -}}
{{- $target := include "canton-exporter.filled" (dict "place" (printf "config.targets.%s" $name) "part" $part "$" $) | fromYaml -}}
{{- include "canton-exporter.target" (dict "place" (printf "config.targets.%s" $name) "target" $target "read" $read) -}}
{{- $_ := set $targets $name $target -}}
{{- end -}}
{{- if $targets -}}{{- $_ := set $config "targets" $targets -}}{{- end -}}
{{- pick (set $read "config" $config) "config" "files" "ports" "hidden" | toYaml -}}
{{- end -}}

{{/* (dict place part $): a part of the values with its templates filled in */}}
{{- define "canton-exporter.filled" -}}
{{- $text := tpl (toYaml .part) (get . "$") -}}
{{- with (fromYaml $text).Error -}}{{- fail (printf "%s: with its templates filled in it is no YAML: %s" $.place .) -}}{{- end -}}
{{- $text -}}
{{- end -}}

{{/* (dict place target read): takes the secrets out of a target, and notes where they are to be found */}}
{{- define "canton-exporter.target" -}}
{{- $place := .place -}}
{{- $target := .target -}}
{{- $isDefault := eq .place "config.defaults" -}}
{{- $auth := default dict $target.auth -}}
{{- $instead := "everybody who can read the ConfigMap could read it; put it into a Secret, and write secretKeyRef: {name: SECRET, key: KEY}" -}}
{{- if $auth.token -}}
{{- fail (printf "%s.auth.token: %s in its place" $place $instead) -}}
{{- end -}}
{{- if and $auth.secretKeyRef $auth.token_file -}}
{{- fail (printf "%s.auth: it has a secretKeyRef and a token_file; keep one of them" $place) -}}
{{- end -}}
{{- if and (eq "none" (default "" $auth.type)) (or $auth.secretKeyRef $auth.token_file) -}}
{{- fail (printf "%s.auth: it has a token and says type: none; write type: bearer" $place) -}}
{{- end -}}
{{- if and (not .read.mayHaveToken) (eq "bearer" (default "" $auth.type)) (not $auth.secretKeyRef) (not $auth.token_file) -}}
{{- fail (printf "%s.auth: a bearer needs its token; write secretKeyRef: {name: SECRET, key: KEY}, or token_file" $place) -}}
{{- end -}}
{{- with $auth.secretKeyRef -}}
{{- $_ := set $auth "token_file" (include "canton-exporter.file" (list . $.read)) -}}
{{- $_ := unset $auth "secretKeyRef" -}}
{{- end -}}
{{- include "canton-exporter.headers" . -}}
{{- if kindIs "map" $target.url -}}
{{- $_ := set $target "url_file" (include "canton-exporter.file" (list $target.url.secretKeyRef .read)) -}}
{{- $_ := unset $target "url" -}}
{{- else if $target.url -}}
{{- if not (regexMatch "^(?i:https?)://([A-Za-z0-9._-]+|\\[[0-9A-Za-z:.%]+\\])(:[1-9][0-9]{0,4})?([/?][!-\"$-~]*)?$" $target.url) -}}
{{- if contains "@" $target.url -}}{{- fail (printf "%s.url: %s as the url" $place $instead) -}}{{- end -}}
{{- fail (printf "%s.url: it is no address of a node; write http://host:port/path" $place) -}}
{{- end -}}
{{- $port := regexFind ":[0-9]+$" (regexFind "//[^/?]+" $target.url) | trimPrefix ":" | default (ternary "443" "80" (hasPrefix "https:" (lower $target.url))) -}}
{{- if gt (int $port) 65535 -}}{{- fail (printf "%s.url: there is no port %s" $place $port) -}}{{- end -}}
{{- $_ := set .read.ports $port true -}}
{{- else if not (or $isDefault $target.url_file .read.mayHaveUrl) -}}
{{- fail (printf "%s.url: it is missing; write http://host:port/path" $place) -}}
{{- end -}}
{{- if $target.url_file -}}
{{- $_ := set .read "hidden" (append .read.hidden (printf "%s.url" $place)) -}}
{{- end -}}
{{- end -}}

{{/* (dict place target read): takes the secrets out of a target's headers */}}
{{- define "canton-exporter.headers" -}}
{{- $files := default dict .target.header_files -}}
{{- $said := dict -}}
{{- range $header, $value := default dict .target.headers -}}
{{- $here := printf "%s.headers.%s" $.place $header -}}
{{- if kindIs "map" $value -}}
{{- $_ := set $files $header (include "canton-exporter.file" (list $value.secretKeyRef $.read)) -}}
{{- $_ := unset $.target.headers $header -}}
{{- else if regexMatch "(?i)(^|[-_])(auth(entication|orization)?|cookie|token|jwt|secret|password|credentials?|session|csrf|((api|access|auth|functions|subscription)[-_]?)?key)$" $header -}}
{{- fail (printf "%s: everybody who can read the ConfigMap could read it; put it into a Secret, and write secretKeyRef: {name: SECRET, key: KEY} as its value" $here) -}}
{{- end -}}
{{- if hasKey $said (lower $header) -}}
{{- fail (printf "%s: the same header is there as %s; keep one of them" $here (get $said (lower $header))) -}}
{{- end -}}
{{- $_ := set $said (lower $header) $header -}}
{{- if and (eq "authorization" (lower $header)) (eq "bearer" (default "" (default dict $.target.auth).type)) -}}
{{- fail (printf "%s: auth sends this header too; keep one of them" $here) -}}
{{- end -}}
{{- end -}}
{{- if $files -}}{{- $_ := set .target "header_files" $files -}}{{- end -}}
{{- end -}}

{{/* (list REF READ): the file in which a key of a Secret is mounted, where it is read again when it changes */}}
{{- define "canton-exporter.file" -}}
{{- $ref := index . 0 -}}
{{- $path := printf "%s/%s" $ref.name $ref.key -}}
{{- $_ := set (index . 1).files $path (dict "name" $ref.name "key" $ref.key "path" $path) -}}
{{- printf "/etc/canton-exporter/secrets/%s" $path -}}
{{- end -}}

{{- define "canton-exporter.hasExistingConfig" -}}
{{- if or .Values.existingConfig.configMap .Values.existingConfig.secret -}}true{{- end -}}
{{- end -}}

{{/* "true" if a simulated network is watched; a release that is wired to Prometheus has to say what it watches */}}
{{- define "canton-exporter.demo" -}}
{{- $isConfigured := or (include "canton-exporter.hasExistingConfig" .) .Values.config.targets -}}
{{- $isWired := or .Values.serviceMonitor.enabled .Values.podMonitor.enabled .Values.probe.enabled .Values.prometheusRule.enabled -}}
{{- if kindIs "bool" .Values.demo -}}
{{- if .Values.demo -}}true{{- end -}}
{{- else if and (not $isConfigured) (not $isWired) -}}true{{- end -}}
{{- end -}}

{{/* (dict target shards): the shard that watches a target, as exporter/shards.py has it */}}
{{- define "canton-exporter.shardOf" -}}
{{- $highest := "" -}}{{- $winner := 0 -}}
{{- range $shard := until (int .shards) -}}
{{- $weight := sha256sum (printf "%s/%d" $.target $shard) -}}
{{- if gt $weight $highest -}}{{- $highest = $weight -}}{{- $winner = $shard -}}{{- end -}}
{{- end -}}
{{- $winner -}}
{{- end -}}

{{- define "canton-exporter.check" -}}
{{- $isConfigured := or (include "canton-exporter.hasExistingConfig" .) .Values.config.targets -}}
{{- if and .Values.existingConfig.configMap .Values.existingConfig.secret -}}
{{- fail "existingConfig: it names a configMap and a secret; keep one of them" -}}
{{- end -}}
{{- if and (include "canton-exporter.hasExistingConfig" .) .Values.config.targets -}}
{{- fail "config.targets: an existingConfig is used instead; keep one of them" -}}
{{- end -}}
{{- if and (include "canton-exporter.hasExistingConfig" .) (omit .Values.config "targets") -}}
{{- fail (printf "config: an existingConfig is used instead; put %s there" (omit .Values.config "targets" | keys | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if and $isConfigured (include "canton-exporter.demo" .) -}}
{{- fail "demo: nodes are configured, which a demo does not watch; keep one of both" -}}
{{- end -}}
{{- if not (or $isConfigured (include "canton-exporter.demo" .)) -}}
{{- fail "config.targets: there is no node to watch; write its name, and below it kind and url, or set demo to true" -}}
{{- end -}}
{{- if and (include "canton-exporter.demo" .) (gt (int .Values.shards) 1) -}}
{{- fail "shards: a demo is one pod; configure targets, or set shards to 1" -}}
{{- end -}}
{{- end -}}
