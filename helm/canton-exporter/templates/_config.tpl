{{/*
What is watched, as YAML: `config` for the file, with no secret in it; `files` for the secrets; `ports` and `hidden` for
the network policy; `others` for the notes: whose nodes get the secrets of the defaults. What is wrong with it is refused.
*/}}
{{- define "canton-exporter.watched" -}}
{{- $part := omit .Values.config "targets" -}}
{{- include "canton-exporter.noSecret" (list "config.defaults" $part.defaults) -}}
{{- $config := include "canton-exporter.filled" (dict "place" "config" "part" $part "$" .) | fromYaml -}}
{{- $settings := .Files.Get "files/settings.json" | fromJson -}}
{{- $read := dict "files" dict "ports" dict "hidden" list "others" list "settings" $settings -}}
{{- $defaults := default dict $config.defaults -}}
{{- include "canton-exporter.target" (dict "place" "config.defaults" "target" $defaults "read" $read) -}}
{{- $targets := dict -}}
{{- range $name, $part := default dict .Values.config.targets -}}
{{- $place := printf "config.targets.%s" $name -}}
{{- include "canton-exporter.noSecret" (list $place $part) -}}
{{- $target := include "canton-exporter.filled" (dict "place" $place "part" $part "$" $) | fromYaml -}}
{{- include "canton-exporter.target" (dict "place" $place "target" $target "read" $read) -}}
{{- $_ := set $targets $name $target -}}
{{- end -}}
{{- include "canton-exporter.together" (dict "targets" $targets "defaults" $defaults "read" $read "$" .) -}}
{{- if $targets -}}{{- $_ := set $config "targets" $targets -}}{{- end -}}
{{- range .Values.extraEnv -}}
{{- if regexMatch "^CANTON_EXPORTER_TARGETS(__.*URL.*)?$" (upper .name) -}}
{{- $_ := set $read "hidden" (append $read.hidden .name) -}}
{{- end -}}
{{- end -}}
{{- if not (or $targets (include "canton-exporter.demo" .) (include "canton-exporter.hasExistingConfig" .)) -}}
{{- $_ := set $read "hidden" (append $read.hidden "extraEnvFrom") -}}
{{- end -}}
{{- omit (set $read "config" $config) "settings" | toYaml -}}
{{- end -}}

{{/* (list PLACE PART): refuses secrets that are written, before a template that is wrong could repeat them */}}
{{- define "canton-exporter.noSecret" -}}
{{- $place := index . 0 -}}
{{- $part := default dict (index . 1) -}}
{{- $instead := include "canton-exporter.instead" . -}}
{{- if (default dict $part.auth).token -}}{{- fail (printf "%s.auth.token: %s in its place" $place $instead) -}}{{- end -}}
{{- if and (kindIs "string" $part.url) (contains "@" (default "" $part.url | toString | splitList "?" | first)) -}}
{{- fail (printf "%s.url: %s as the url" $place $instead) -}}
{{- end -}}
{{- $keys := "token|secret|passw|passphrase|bearer|authorization|cookie|credential|api[-_.]?key" -}}
{{- $atTheEnd := "(access|account|auth|client|functions|private|shared|signing|subscription)[-_.]?key|jwt[-_.]assertion" -}}
{{- $words := "auth(entication)?|csrf|jwt|pass|pat|session([-_.]?id)?" -}}
{{- $pattern := printf "(?i)%s|(%s)$|(^|[-_.])(%s)$|^(x[-_.])?key$" $keys $atTheEnd $words -}}
{{- range $header, $value := default dict $part.headers -}}
{{- if and (kindIs "string" $value) (regexMatch $pattern $header) -}}
{{- fail (printf "%s.headers.%s: %s as its value" $place $header $instead) -}}
{{- end -}}
{{- end -}}
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
{{- if not $auth.token -}}{{- $_ := unset $auth "token" -}}{{- end -}}
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
{{- if not $target.url -}}{{- $_ := unset $target "url" -}}{{- end -}}
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

{{/* (dict place target read): the port of a target's url */}}
{{- define "canton-exporter.port" -}}
{{- $url := .target.url -}}
{{- if not (regexMatch (printf "^(?i:https?)://(%s)(:[0-9]{0,5})?([/?][!-\"$-~]*)?$" .read.settings.host) $url) -}}
{{- fail (printf "%s.url: it is not an address of a node; write http://host:port/path" .place) -}}
{{- end -}}
{{- $port := regexReplaceAll "^:0*" (regexFind ":[0-9]*$" (regexFind "//[^/?]+" $url)) "" -}}
{{- $port = default (ternary "443" "80" (hasPrefix "https:" (lower $url))) $port -}}
{{- if gt (int $port) 65535 -}}{{- fail (printf "%s.url: there is no port %s; write one up to 65535" .place $port) -}}{{- end -}}
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
{{- end -}}
{{- end -}}
{{- if $files -}}{{- $_ := set .target "header_files" $files -}}{{- end -}}
{{- end -}}

{{/* (list REF READ PLACE): the file in which a key of a Secret is mounted, where it is read again when it changes */}}
{{- define "canton-exporter.file" -}}
{{- $ref := index . 0 -}}
{{- $read := index . 1 -}}
{{- if not (and (regexMatch $read.settings.secretName $ref.name) (regexMatch $read.settings.secretKey $ref.key)) -}}
{{- fail (printf "%s.secretKeyRef: with its templates filled in it names no key of a Secret" (index . 2)) -}}
{{- end -}}
{{- $path := printf "%s/%s" $ref.name $ref.key -}}
{{- $_ := set $read.files $path (dict "name" $ref.name "key" $ref.key "path" $path) -}}
{{- printf "/etc/canton-exporter/secrets/%s" $path -}}
{{- end -}}

{{/* (list $ PART): "true" if variables may say a PART of a target: some of the operator's own, or others unseen here */}}
{{- define "canton-exporter.saidElsewhere" -}}
{{- $found := (index . 0).Values.extraEnvFrom -}}
{{- $pattern := printf "^CANTON_EXPORTER_(TARGETS(__.*)?|DEFAULTS(__%s.*)?)$" (index . 1) -}}
{{- range (index . 0).Values.extraEnv -}}{{- $found = or $found (regexMatch $pattern (upper .name)) -}}{{- end -}}
{{- if $found -}}true{{- end -}}
{{- end -}}

{{- define "canton-exporter.hasExistingConfig" -}}
{{- if or .Values.existingConfig.configMap .Values.existingConfig.secret -}}true{{- end -}}
{{- end -}}

{{/* "true" if a simulated network is watched; a release that says anything of what it watches has to say it whole */}}
{{- define "canton-exporter.demo" -}}
{{- $isConfigured := or (include "canton-exporter.hasExistingConfig" .) .Values.config.targets -}}
{{- $isMeant := or (omit .Values.config "targets") (include "canton-exporter.saidElsewhere" (list . "TARGETS")) -}}
{{- $isWired := or .Values.serviceMonitor.enabled .Values.podMonitor.enabled .Values.probe.enabled .Values.prometheusRule.enabled -}}
{{- if kindIs "bool" .Values.demo -}}
{{- if .Values.demo -}}true{{- end -}}
{{- else if and (not $isConfigured) (not $isWired) (not $isMeant) -}}true{{- end -}}
{{- end -}}
