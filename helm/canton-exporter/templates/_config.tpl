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

{{/* (dict targets defaults $): refuses what the exporter would refuse of the targets and what they have in common */}}
{{- define "canton-exporter.together" -}}
{{- $root := get . "$" -}}
{{- $mayBeSaidElsewhere := include "canton-exporter.hasVariables" $root -}}
{{- $settings := $root.Files.Get "files/settings.json" | fromJson -}}
{{- $labels := dict -}}
{{- range $name, $target := .targets -}}{{- range $label, $_ := merge (dict) (default dict $target.labels) (default dict $.defaults.labels) -}}
{{- $_ := set $labels $label $name -}}
{{- if has $label $settings.labels -}}
{{- fail (printf "config.targets.%s.labels.%s: the exporter's own metrics have a label of this name; choose another" $name $label) -}}
{{- end -}}
{{- end -}}{{- end -}}
{{- range $name, $target := .targets -}}
{{- $here := dict "place" (printf "config.targets.%s" $name) "target" $target "defaults" $.defaults "settings" $settings -}}
{{- include "canton-exporter.authorizedOnce" (set $here "mayHaveToken" $mayBeSaidElsewhere) -}}
{{- if not $mayBeSaidElsewhere -}}
{{- if not (or $target.url $target.url_file) -}}
{{- fail (printf "%s.url: it is missing; write http://host:port/path" $here.place) -}}
{{- end -}}
{{- range $label, $other := $labels -}}
{{- if not (or (hasKey (default dict $target.labels) $label) (hasKey (default dict $.defaults.labels) $label)) -}}
{{- fail (printf "%s.labels: the label %s is missing; %s has it, and all targets need the same" $here.place $label $other) -}}
{{- end -}}
{{- end -}}
{{- include "canton-exporter.options" $here -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict place target defaults mayHaveToken): refuses a target that is authorized twice, or by no token */}}
{{- define "canton-exporter.authorizedOnce" -}}
{{- $own := default dict .target.auth -}}
{{- $given := default dict .defaults.auth -}}
{{- $auth := ternary (merge (dict) $own $given) $own (eq (default $given.type $own.type) $given.type) -}}
{{- if eq "bearer" (default "" $auth.type) -}}
{{- if not (or $auth.token_file .mayHaveToken) -}}
{{- fail (printf "%s.auth: a bearer needs its token; write secretKeyRef: {name: SECRET, key: KEY}, or token_file" .place) -}}
{{- end -}}
{{- range list .target.headers .target.header_files .defaults.headers .defaults.header_files -}}
{{- range keys (default dict .) -}}
{{- if eq "authorization" (lower .) -}}
{{- fail (printf "%s.auth: the header %s is sent too; keep one of them" $.place .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict place target defaults settings): refuses a collector that is switched on without an option that it needs */}}
{{- define "canton-exporter.options" -}}
{{- range $name, $collector := .settings.collectors -}}
{{- $own := get (default dict $.target.collectors) $name -}}
{{- $given := get (default dict $.defaults.collectors) $name -}}
{{- if and (has $.target.kind $collector.kinds) (or (kindIs "map" $own) (kindIs "map" $given)) -}}
{{- $whole := list (default dict $own) (default dict $given) | include "canton-exporter.joined" | fromYaml -}}
{{- $options := merge (dict) (default dict (default dict $own).options) (default dict (default dict $given).options) -}}
{{- range $collector.needs -}}
{{- if and (not (hasKey $options .)) (ne "false" (toString $whole.enabled)) -}}
{{- fail (printf "%s.collectors.%s.options.%s: it is missing; docs/collectors/%s.md says what it is" $.place $name . $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
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
{{- $isElsewhere := and (include "canton-exporter.hasVariables" .) (kindIs "bool" .Values.demo) -}}
{{- if not (or $isConfigured $isElsewhere (include "canton-exporter.demo" .)) -}}
{{- if include "canton-exporter.hasVariables" . -}}
{{- fail "config.targets: there is no node to watch; if variables name the targets, set demo to false, else to true" -}}
{{- end -}}
{{- fail "config.targets: there is no node to watch; write its name, and below it kind and url, or set demo to true" -}}
{{- end -}}
{{- if and (include "canton-exporter.demo" .) (gt (int .Values.shards) 1) -}}
{{- fail "shards: a demo is one pod; configure targets, or set shards to 1" -}}
{{- end -}}
{{- $path := .Values.web.telemetryPath | trimAll "/" -}}
{{- if or (hasPrefix "-/" $path) (has $path (list "probe" "config" "-")) -}}
{{- fail (printf "web.telemetryPath: /%s is where something else is; choose another path" $path) -}}
{{- end -}}
{{- if and .Values.web.tlsSecret (eq "http" .Values.web.scheme) -}}
{{- fail "web.scheme: with a tlsSecret it speaks https; leave the scheme out, or the tlsSecret" -}}
{{- end -}}
{{- end -}}
