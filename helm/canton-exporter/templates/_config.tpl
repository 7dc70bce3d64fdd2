{{/*
What is watched, as YAML: `config` for the file, with no secret in it; `files` and `env` for the secrets; `ports` and
`hidden` for the network policy.
*/}}
{{- define "canton-exporter.watched" -}}
{{- $config := include "canton-exporter.filled" (dict "place" "config" "part" (omit .Values.config "targets") "$" .) | fromYaml -}}
{{/* A token may come from what all targets share, or from variables of the operator's own. */}}
{{- $mayHaveToken := or (default dict $config.defaults).auth .Values.extraEnv .Values.extraEnvFrom -}}
{{- $read := dict "files" dict "env" dict "ports" dict "hidden" list "mayHaveToken" $mayHaveToken -}}
{{- with $config.defaults -}}{{- include "canton-exporter.target" (dict "place" (list "defaults") "target" . "read" $read) -}}{{- end -}}
{{- $targets := dict -}}
{{- $folded := dict -}}
{{- range $name, $part := default dict .Values.config.targets -}}
{{- $target := include "canton-exporter.filled" (dict "place" (printf "config.targets.%s" $name) "part" $part "$" $) | fromYaml -}}
{{- $before := len $read.env -}}
{{- include "canton-exporter.target" (dict "place" (list "targets" $name) "target" $target "read" $read) -}}
{{- $other := get $folded ($name | lower | replace "-" "_") | default dict -}}
{{- $isSecret := gt (len $read.env) $before -}}
{{- if and $other.name (or $isSecret $other.isSecret) -}}
{{- fail (printf "config.targets: %s and %s are one name to the environment, from which a secret of theirs comes; rename one" $other.name $name) -}}
{{- end -}}
{{- $_ := set $folded ($name | lower | replace "-" "_") (dict "name" $name "isSecret" $isSecret) -}}
{{- $_ := set $targets $name $target -}}
{{- end -}}
{{- if $targets -}}{{- $_ := set $config "targets" $targets -}}{{- end -}}
{{- $env := list -}}
{{- range keys $read.env | sortAlpha -}}{{- $env = append $env (get $read.env .) -}}{{- end -}}
{{- $_ := set $read "env" $env -}}
{{- omit (set $read "config" $config) "mayHaveToken" | toYaml -}}
{{- end -}}

{{/* (dict place part $): a part of the values with its templates filled in */}}
{{- define "canton-exporter.filled" -}}
{{- $text := tpl (toYaml .part) (get . "$") -}}
{{- with (fromYaml $text).Error -}}{{- fail (printf "%s: with its templates filled in it is no YAML: %s" $.place .) -}}{{- end -}}
{{- $text -}}
{{- end -}}

{{/* (dict place target read): takes the secrets out of a target, and notes where they are to be found */}}
{{- define "canton-exporter.target" -}}
{{- $place := printf "config.%s" (join "." .place) -}}
{{- $target := .target -}}
{{- $isDefault := eq (len .place) 1 -}}
{{- $auth := default dict $target.auth -}}
{{- $instead := "everybody who can read the ConfigMap could read it; put it into a Secret, and write secretKeyRef: {name: SECRET, key: KEY}" -}}
{{- if $auth.token -}}
{{- fail (printf "%s.auth.token: %s in its place" $place $instead) -}}
{{- end -}}
{{- if and (eq "none" (default "" $auth.type)) (or $auth.secretKeyRef $auth.token_file) -}}
{{- fail (printf "%s.auth: it has a token and says type: none; write type: bearer" $place) -}}
{{- end -}}
{{- if and (not $isDefault) (not .read.mayHaveToken) (eq "bearer" (default "" $auth.type)) (not $auth.secretKeyRef) (not $auth.token_file) -}}
{{- fail (printf "%s.auth: a bearer needs its token; write secretKeyRef: {name: SECRET, key: KEY}, or token_file" $place) -}}
{{- end -}}
{{- with $auth.secretKeyRef -}}
{{- $path := printf "%s/%s" .name .key -}}
{{- $_ := set $.read.files $path (dict "name" .name "key" .key "path" $path) -}}
{{- $_ := set $auth "token_file" (printf "/etc/canton-exporter/secrets/%s" $path) -}}
{{- $_ := unset $auth "secretKeyRef" -}}
{{- end -}}
{{- range $header, $value := default dict $target.headers -}}
{{- $here := printf "%s.headers.%s" $place $header -}}
{{- if kindIs "map" $value -}}
{{- if not (regexMatch "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$" $header) -}}
{{- fail (printf "%s: a secretKeyRef here becomes an environment variable, which can spell letters, digits and single hyphens only" $here) -}}
{{- end -}}
{{- include "canton-exporter.variable" (dict "place" (concat $.place (list "headers" $header)) "ref" $value.secretKeyRef "read" $.read) -}}
{{- $_ := unset $target.headers $header -}}
{{- else if regexMatch "(?i)authorization|cookie|token|secret|password|api-?key" $header -}}
{{- fail (printf "%s: %s as its value" $here $instead) -}}
{{- end -}}
{{- end -}}
{{- if kindIs "map" $target.url -}}
{{- include "canton-exporter.variable" (dict "place" (append $.place "url") "ref" $target.url.secretKeyRef "read" $.read) -}}
{{/* Asked only while the Secret is missing, which is a fault of this target alone. */}}
{{- $_ := set $target "url" "http://its-secret-is-missing.invalid" -}}
{{- $_ := set $.read "hidden" (append $.read.hidden (printf "%s.url" $place)) -}}
{{- else if $target.url -}}
{{- if not (regexMatch "^(?i:https?)://[^/?#@ ]+([/?][^# ]*)?$" $target.url) -}}
{{- if contains "@" $target.url -}}{{- fail (printf "%s.url: %s as the url" $place $instead) -}}{{- end -}}
{{- fail (printf "%s.url: %s is no address of a node; write http://host:port/path" $place $target.url) -}}
{{- end -}}
{{- $host := regexFind "//[^/?]+" $target.url -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" | default (ternary "443" "80" (hasPrefix "https:" (lower $target.url))) -}}
{{- $_ := set $.read.ports $port true -}}
{{- end -}}
{{- end -}}

{{/* (dict place ref read): notes that a setting comes from a variable of the environment */}}
{{- define "canton-exporter.variable" -}}
{{- $name := printf "CANTON_EXPORTER_%s" (join "__" .place) | replace "-" "_" | upper -}}
{{- range .place -}}
{{- if not (regexMatch "^[A-Za-z0-9.]+([-_][A-Za-z0-9.]+)*$" .) -}}
{{- fail (printf "config.%s: a secretKeyRef here becomes an environment variable, which can spell letters, digits, dots and single - or _ only; choose another name than %s" (join "." $.place) .) -}}
{{- end -}}
{{- end -}}
{{- $_ := set .read.env $name (dict "name" $name "valueFrom" (dict "secretKeyRef" (merge (dict "optional" true) .ref))) -}}
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
