{{/* What is refused, beside what the schema refuses: values that contradict one another, or that the exporter would refuse. */}}

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
{{- $isElsewhere := and (include "canton-exporter.saidElsewhere" (list . "TARGETS")) (kindIs "bool" .Values.demo) -}}
{{- if not (or $isConfigured $isElsewhere (include "canton-exporter.demo" .)) -}}
{{- if include "canton-exporter.saidElsewhere" (list . "TARGETS") -}}
{{- fail "config.targets: there is no node to watch; if variables name the targets, set demo to false, else to true" -}}
{{- end -}}
{{- fail "config.targets: there is no node to watch; write its name, and below it kind and url, or set demo to true" -}}
{{- end -}}
{{- if and (include "canton-exporter.demo" .) (gt (int .Values.shards) 1) -}}
{{- fail "shards: a demo is one pod; configure targets, or set shards to 1" -}}
{{- end -}}
{{- $path := .Values.web.telemetryPath | trimAll "/" | printf "/%s" -}}
{{- if regexMatch (.Files.Get "files/settings.json" | fromJson).takenPaths $path -}}
{{- fail (printf "web.telemetryPath: %s is already used; choose another path" $path) -}}
{{- end -}}
{{- if and .Values.web.tlsSecret (eq "http" .Values.web.scheme) -}}
{{- fail "web.scheme: with a tlsSecret it speaks https; leave the scheme out, or the tlsSecret" -}}
{{- end -}}
{{- end -}}

{{/* (dict targets defaults read $): refuses what the exporter would refuse of targets and what they have in common */}}
{{- define "canton-exporter.together" -}}
{{- $root := get . "$" -}}
{{- $settings := .read.settings -}}
{{- $may := dict -}}
{{- range $part := list "AUTH" "LABELS" "COLLECTORS" "TARGETS" "ROLE" -}}
{{- $_ := set $may $part (include "canton-exporter.saidElsewhere" (list $root $part)) -}}
{{- end -}}
{{- $labels := dict -}}
{{- range $name, $target := .targets -}}{{- range $label, $_ := merge (dict) (default dict $target.labels) (default dict $.defaults.labels) -}}
{{- $_ := set $labels $label $name -}}
{{- if has $label $settings.labels -}}
{{- fail (printf "config.targets.%s.labels.%s: this label name is reserved; choose another" $name $label) -}}
{{- end -}}
{{- end -}}{{- end -}}
{{- $alone := dict "place" "config.defaults" "target" .defaults "defaults" dict "mayHaveToken" $may.AUTH -}}
{{- include "canton-exporter.authorizedOnce" $alone -}}
{{- range $name, $target := .targets -}}
{{- $here := dict "place" (printf "config.targets.%s" $name) "target" $target "defaults" $.defaults "settings" $settings -}}
{{- if include "canton-exporter.tellsOthers" $here -}}{{- $_ := set $.read "others" (append $.read.others $name) -}}{{- end -}}
{{- include "canton-exporter.authorizedOnce" (set $here "mayHaveToken" $may.AUTH) -}}
{{- if not (or $target.url $target.url_file) -}}
{{- if not $may.TARGETS -}}{{- fail (printf "%s.url: it is missing; write http://host:port/path" $here.place) -}}{{- end -}}
{{- $_ := set $.read "hidden" (append $.read.hidden (printf "%s.url" $here.place)) -}}
{{- end -}}
{{- if and (eq "scan" $target.kind) (not $target.role) (not $.defaults.role) (not $may.ROLE) -}}
{{- fail (printf "%s.role: %s" $here.place $settings.whose) -}}
{{- end -}}
{{- range $label, $other := $labels -}}
{{- if not (or $may.LABELS (hasKey (default dict $target.labels) $label) (hasKey (default dict $.defaults.labels) $label)) -}}
{{- fail (printf "%s.labels: the label %s is missing; %s has it, and all targets need the same" $here.place $label $other) -}}
{{- end -}}
{{- end -}}
{{- if not $may.COLLECTORS -}}{{- include "canton-exporter.options" $here -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict target defaults): how a target is authorized, as the exporter puts it together */}}
{{- define "canton-exporter.auth" -}}
{{- $own := default dict .target.auth -}}
{{- $given := default dict .defaults.auth -}}
{{- ternary (merge (dict) $own $given) $own (eq (default $given.type $own.type) $given.type) | toYaml -}}
{{- end -}}

{{/* (dict target defaults): "true" if somebody else's node gets a secret that is given to all */}}
{{- define "canton-exporter.tellsOthers" -}}
{{- $isOthers := eq "observed" (default "own" (default .defaults.role .target.role)) -}}
{{- $token := (include "canton-exporter.auth" . | fromYaml).token_file -}}
{{- $isShared := and $token (not (default dict .target.auth).token_file) -}}
{{- if and $isOthers (or $isShared .defaults.header_files) -}}true{{- end -}}
{{- end -}}

{{/* (dict place target defaults mayHaveToken): refuses a target that is authorized twice, or by no token */}}
{{- define "canton-exporter.authorizedOnce" -}}
{{- $auth := include "canton-exporter.auth" . | fromYaml -}}
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
{{- $kind := get (default dict .settings.kindAliases) .target.kind | default .target.kind -}}
{{- range $name, $collector := .settings.collectors -}}
{{- $own := get (default dict $.target.collectors) $name -}}
{{- $given := get (default dict $.defaults.collectors) $name -}}
{{- if and (has $kind $collector.kinds) (or (kindIs "map" $own) (kindIs "map" $given)) -}}
{{- /* Not merged: of two of them merge would take an own `enabled: false` for nothing said. */ -}}
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
