{{/*
(list $ MONITOR OWN FREE): what the operator's kinds say of an endpoint; OWN is what only this kind says. What is FREE in the
monitor's values wins, whole: of what it says of TLS, nothing is to be filled in.
*/}}
{{- define "canton-exporter.endpoint" -}}
{{- $ := index . 0 -}}
{{- $monitor := index . 1 -}}
{{- $endpoint := index . 2 -}}
{{- $free := default dict (index . 3) -}}
{{- range $name := list "interval" "scrapeTimeout" "relabelings" "metricRelabelings" "basicAuth" "tlsConfig" -}}
{{- with get $monitor $name -}}{{- $_ := set $endpoint $name . -}}{{- end -}}
{{- end -}}
{{- if and (eq (include "canton-exporter.scheme" $) "https") (not $endpoint.tlsConfig) (not (hasKey $free "tlsConfig")) -}}
{{- $_ := set $endpoint "tlsConfig" (dict "insecureSkipVerify" true) -}}
{{- end -}}
{{- range $name, $value := $free -}}{{- $_ := set $endpoint $name $value -}}{{- end -}}
{{- toYaml $endpoint -}}
{{- end -}}

{{/* (list $ MONITOR ENDPOINTS LABELS): the spec of a ServiceMonitor or PodMonitor */}}
{{- define "canton-exporter.monitorSpec" -}}
{{- $ := index . 0 -}}
{{- $monitor := index . 1 -}}
{{- $own := dict "port" $.Values.service.portName "path" (include "canton-exporter.path" (list $ $.Values.web.telemetryPath)) "scheme" (include "canton-exporter.scheme" $) -}}
{{- $endpoint := include "canton-exporter.endpoint" (list $ $monitor $own $monitor.endpoint) | fromYaml -}}
{{- $labels := merge (include "canton-exporter.selector" $ | fromYaml) (index . 3) -}}
{{- $spec := dict (index . 2) (list $endpoint) "selector" (dict "matchLabels" $labels) "namespaceSelector" (dict "matchNames" (list (include "canton-exporter.namespace" $))) -}}
{{- range $name := list "jobLabel" "targetLabels" "podTargetLabels" -}}
{{- with get $monitor $name -}}{{- $_ := set $spec $name . -}}{{- end -}}
{{- end -}}
{{- with $monitor.sampleLimit -}}{{- $_ := set $spec "sampleLimit" (int .) -}}{{- end -}}
{{- merge (dict) (default dict $monitor.spec) $spec | toYaml -}}
{{- end -}}

{{/* (dict target shards): the shard that watches a target, as exporter/scheduling/sharding.py has it */}}
{{- define "canton-exporter.shardOf" -}}
{{- $highest := "" -}}{{- $winner := 0 -}}
{{- range $shard := until (int .shards) -}}
{{- $weight := sha256sum (printf "%s/%d" $.target $shard) -}}
{{- if gt $weight $highest -}}{{- $highest = $weight -}}{{- $winner = $shard -}}{{- end -}}
{{- end -}}
{{- $winner -}}
{{- end -}}
