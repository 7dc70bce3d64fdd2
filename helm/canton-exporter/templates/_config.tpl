{{/*
What is watched, as YAML: `config` for the file, with no secret in it; `files` for the secrets; `ports` and `hidden` for
the network policy.
*/}}
{{- define "canton-exporter.watched" -}}
{{- $part := omit .Values.config "targets" -}}
{{- include "canton-exporter.noToken" (list "config.defaults" $part.defaults) -}}
{{- $config := include "canton-exporter.filled" (dict "place" "config" "part" $part "$" .) | fromYaml -}}
{{- $read := dict "files" dict "ports" dict "hidden" list -}}
{{- $defaults := default dict $config.defaults -}}
{{- include "canton-exporter.target" (dict "place" "config.defaults" "target" $defaults "read" $read) -}}
{{- $targets := dict -}}
{{- range $name, $part := default dict .Values.config.targets -}}
{{- $place := printf "config.targets.%s" $name -}}
{{- include "canton-exporter.noToken" (list $place $part) -}}
{{- $target := include "canton-exporter.filled" (dict "place" $place "part" $part "$" $) | fromYaml -}}
{{- include "canton-exporter.target" (dict "place" $place "target" $target "read" $read) -}}
{{- $_ := set $targets $name $target -}}
{{- end -}}
{{- include "canton-exporter.together" (dict "targets" $targets "defaults" $defaults "$" .) -}}
{{- if $targets -}}{{- $_ := set $config "targets" $targets -}}{{- end -}}
{{- range .Values.extraEnv -}}
{{- if regexMatch "^CANTON_EXPORTER_TARGETS(__.*URL.*)?$" (upper .name) -}}
{{- $_ := set $read "hidden" (append $read.hidden .name) -}}
{{- end -}}
{{- end -}}
{{- set $read "config" $config | toYaml -}}
{{- end -}}

{{/* (list PLACE PART): refuses a token that is written, before anything could repeat it */}}
{{- define "canton-exporter.noToken" -}}
{{- $auth := default dict (default dict (index . 1)).auth -}}
{{- if $auth.token -}}{{- fail (printf "%s.auth.token: %s in its place" (index . 0) (include "canton-exporter.instead" .)) -}}{{- end -}}
{{- end -}}

{{- define "canton-exporter.instead" -}}
everybody who can read the ConfigMap could read it; put it into a Secret, and write secretKeyRef: {name: SECRET, key: KEY}
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
{{- $auth := default dict $target.auth -}}
{{- if and $auth.secretKeyRef $auth.token_file -}}
{{- fail (printf "%s.auth: it has a secretKeyRef and a token_file; keep one of them" $place) -}}
{{- end -}}
{{- if and (eq "none" (default "" $auth.type)) (or $auth.secretKeyRef $auth.token_file) -}}
{{- fail (printf "%s.auth: it has a token and says type: none; write type: bearer" $place) -}}
{{- end -}}
{{- with $auth.secretKeyRef -}}
{{- $_ := set $auth "token_file" (include "canton-exporter.file" (list . $.read (printf "%s.auth" $place))) -}}
{{- $_ := unset $auth "secretKeyRef" -}}
{{- end -}}
{{- include "canton-exporter.headers" . -}}
{{- if and $target.url $target.url_file -}}
{{- fail (printf "%s.url: there is a url_file too; keep one of them" $place) -}}
{{- end -}}
{{- if kindIs "map" $target.url -}}
{{- $_ := set $target "url_file" (include "canton-exporter.file" (list $target.url.secretKeyRef .read (printf "%s.url" $place))) -}}
{{- $_ := unset $target "url" -}}
{{- else if $target.url -}}
{{- $port := include "canton-exporter.port" . -}}
{{- $_ := set .read.ports $port true -}}
{{- end -}}
{{- if $target.url_file -}}
{{- $_ := set .read "hidden" (append .read.hidden (printf "%s.url" $place)) -}}
{{- end -}}
{{- end -}}

{{/* (dict place target): the port of a target's url */}}
{{- define "canton-exporter.port" -}}
{{- $url := .target.url -}}
{{- if not (regexMatch "^(?i:https?)://([A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*[.]?|\\[[0-9A-Fa-f:.]+(%[0-9A-Za-z]+)?\\])(:[1-9][0-9]{0,4})?([/?][!-\"$-~]*)?$" $url) -}}
{{- if contains "@" $url -}}{{- fail (printf "%s.url: %s as the url" .place (include "canton-exporter.instead" .)) -}}{{- end -}}
{{- fail (printf "%s.url: it is no address of a node; write http://host:port/path" .place) -}}
{{- end -}}
{{- $port := regexFind ":[0-9]+$" (regexFind "//[^/?]+" $url) | trimPrefix ":" | default (ternary "443" "80" (hasPrefix "https:" (lower $url))) -}}
{{- if gt (int $port) 65535 -}}{{- fail (printf "%s.url: there is no port %s" .place $port) -}}{{- end -}}
{{- $port -}}
{{- end -}}

{{/* (dict place target read): takes the secrets out of a target's headers */}}
{{- define "canton-exporter.headers" -}}
{{- $files := default dict .target.header_files -}}
{{- $said := dict -}}
{{- range keys $files -}}{{- $_ := set $said (lower .) . -}}{{- end -}}
{{- range $header, $value := default dict .target.headers -}}
{{- $here := printf "%s.headers.%s" $.place $header -}}
{{- if hasKey $said (lower $header) -}}
{{- fail (printf "%s: the same header is there as %s; keep one of them" $here (get $said (lower $header))) -}}
{{- end -}}
{{- $_ := set $said (lower $header) $header -}}
{{- if kindIs "map" $value -}}
{{- $_ := set $files $header (include "canton-exporter.file" (list $value.secretKeyRef $.read $here)) -}}
{{- $_ := unset $.target.headers $header -}}
{{- else if regexMatch "(?i)token|secret|passw|passphrase|bearer|jwt|session|(^|[-_])(auth(entication|orization)?|cookie|credentials?|csrf|pass|pat|((api|access|auth|functions|subscription)[-_]?)?key)$" $header -}}
{{- fail (printf "%s: %s as its value" $here (include "canton-exporter.instead" .)) -}}
{{- end -}}
{{- end -}}
{{- if $files -}}{{- $_ := set .target "header_files" $files -}}{{- end -}}
{{- end -}}

{{/* (list REF READ PLACE): the file in which a key of a Secret is mounted, where it is read again when it changes */}}
{{- define "canton-exporter.file" -}}
{{- $ref := index . 0 -}}
{{- if not (and (regexMatch "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$" $ref.name) (regexMatch "^[.]?[A-Za-z0-9_-][A-Za-z0-9._-]*$" $ref.key)) -}}
{{- fail (printf "%s.secretKeyRef: with its templates filled in it names no key of a Secret" (index . 2)) -}}
{{- end -}}
{{- $path := printf "%s/%s" $ref.name $ref.key -}}
{{- $_ := set (index . 1).files $path (dict "name" $ref.name "key" $ref.key "path" $path) -}}
{{- printf "/etc/canton-exporter/secrets/%s" $path -}}
{{- end -}}

{{/* "true" if variables may say what the values do not: some that the operator sets, or others that nobody sees here */}}
{{- define "canton-exporter.hasVariables" -}}
{{- $found := .Values.extraEnvFrom -}}
{{- range .Values.extraEnv -}}
{{- $found = or $found (regexMatch "^CANTON_EXPORTER_(TARGETS|DEFAULTS)(__|$)" (upper .name)) -}}
{{- end -}}
{{- if $found -}}true{{- end -}}
{{- end -}}

{{- define "canton-exporter.hasExistingConfig" -}}
{{- if or .Values.existingConfig.configMap .Values.existingConfig.secret -}}true{{- end -}}
{{- end -}}

{{/* "true" if a simulated network is watched; a release that says anything of what it watches has to say it whole */}}
{{- define "canton-exporter.demo" -}}
{{- $isConfigured := or (include "canton-exporter.hasExistingConfig" .) .Values.config.targets -}}
{{- $isMeant := or (omit .Values.config "targets") (include "canton-exporter.hasVariables" .) -}}
{{- $isWired := or .Values.serviceMonitor.enabled .Values.podMonitor.enabled .Values.probe.enabled .Values.prometheusRule.enabled -}}
{{- if kindIs "bool" .Values.demo -}}
{{- if .Values.demo -}}true{{- end -}}
{{- else if and (not $isConfigured) (not $isWired) (not $isMeant) -}}true{{- end -}}
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
