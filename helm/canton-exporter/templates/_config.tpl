{{/*
What is watched, as YAML: `config` for the file, with no secret in it; `files` and `env` for the secrets; `ports` and
`hidden` for the network policy.
*/}}
{{- define "canton-exporter.watched" -}}
{{- $config := tpl (toYaml .Values.config) . | fromYaml -}}
{{- with $config.Error -}}{{- fail (printf "config: a template in it makes no YAML: %s" .) -}}{{- end -}}
{{- $read := dict "files" dict "env" list "ports" dict "hidden" list -}}
{{- with $config.defaults -}}{{- include "canton-exporter.target" (dict "place" (list "defaults") "target" . "read" $read) -}}{{- end -}}
{{- range $name, $target := default dict $config.targets -}}
{{- include "canton-exporter.target" (dict "place" (list "targets" $name) "target" $target "read" $read) -}}
{{- end -}}
{{- toYaml (set $read "config" $config) -}}
{{- end -}}

{{/* (dict place target read): takes the secrets out of a target, and notes where they are to be found */}}
{{- define "canton-exporter.target" -}}
{{- $place := join "." .place -}}
{{- $target := .target -}}
{{- $auth := default dict $target.auth -}}
{{- if $auth.token -}}
{{- fail (printf "config.%s.auth.token: everybody who can read the ConfigMap could read it; put it into a Secret, and write secretKeyRef: {name: SECRET, key: KEY} instead" $place) -}}
{{- end -}}
{{- with $auth.secretKeyRef -}}
{{- $path := printf "%s/%s" .name .key -}}
{{- $_ := set $.read.files $path (dict "name" .name "key" .key "path" $path) -}}
{{- $_ := set $auth "token_file" (printf "/etc/canton-exporter/secrets/%s" $path) -}}
{{- $_ := unset $auth "secretKeyRef" -}}
{{- end -}}
{{- range $header, $value := default dict $target.headers -}}
{{- if kindIs "map" $value -}}
{{- include "canton-exporter.variable" (dict "place" (concat $.place (list "headers" $header)) "ref" $value.secretKeyRef "read" $.read) -}}
{{- $_ := unset $target.headers $header -}}
{{- end -}}
{{- end -}}
{{- if kindIs "map" $target.url -}}
{{- include "canton-exporter.variable" (dict "place" (append $.place "url") "ref" $target.url.secretKeyRef "read" $.read) -}}
{{- $_ := unset $target "url" -}}
{{- $_ := set $.read "hidden" (append $.read.hidden (printf "config.%s.url" $place)) -}}
{{- else if $target.url -}}
{{- $url := urlParse $target.url -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- $_ := set $.read.ports $port true -}}
{{- end -}}
{{- end -}}

{{/* (dict place ref read): notes that a setting comes from a variable of the environment */}}
{{- define "canton-exporter.variable" -}}
{{- $place := join "." .place -}}
{{- $name := printf "CANTON_EXPORTER_%s" (join "__" .place) | replace "-" "_" | upper -}}
{{- if not (regexMatch "^[A-Z0-9_.]+$" $name) -}}
{{- fail (printf "config.%s: a secretKeyRef here becomes an environment variable, whose name may hold letters, digits and -_. only; choose another name for the target" $place) -}}
{{- end -}}
{{- $_ := set .read "env" (append .read.env (dict "name" $name "valueFrom" (dict "secretKeyRef" (merge (dict "optional" true) .ref)))) -}}
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
{{- if not (or $isConfigured (include "canton-exporter.demo" .)) -}}
{{- fail "config.targets: there is no node to watch; write its name, and below it kind and url, or set demo to true" -}}
{{- end -}}
{{- if and (include "canton-exporter.demo" .) (gt (int .Values.shards) 1) -}}
{{- fail "shards: a demo is one pod; configure targets, or set shards to 1" -}}
{{- end -}}
{{- end -}}
