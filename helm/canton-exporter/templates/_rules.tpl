{{/* The groups of rules: the project's template with the thresholds put in, less the alerts that are switched off. */}}
{{- define "canton-exporter.rules" -}}
{{- $rule := .Values.prometheusRule -}}
{{- $text := .Files.Get "files/rules.template.yaml" | replace "@runbooks@" (trimSuffix "/" $rule.runbookUrl) -}}
{{- range $name, $value := $rule.thresholds -}}
{{/* As JSON a number has no exponent, which PromQL would read too, but nobody else. */}}
{{- $text = $text | replace (printf "@%s@" $name) (ternary $value (toJson $value) (kindIs "string" $value)) -}}
{{- end -}}
{{- $read := fromYaml $text -}}
{{- with $read.Error -}}{{- fail (printf "prometheusRule.thresholds: with them the rules are no YAML: %s" .) -}}{{- end -}}
{{- range $group := $read.groups -}}
{{- $kept := list -}}
{{- range $each := $group.rules -}}
{{- if or $each.record (get $rule.alerts $each.alert) -}}
{{- if $each.alert -}}
{{- $_ := set $each "labels" (merge (dict) (default dict $rule.alertLabels) (default dict $each.labels)) -}}
{{- $_ := set $each "annotations" (merge (dict) (default dict $rule.alertAnnotations) (default dict $each.annotations)) -}}
{{- end -}}
{{- $kept = append $kept $each -}}
{{- end -}}
{{- end -}}
{{- $_ := set $group "rules" $kept -}}
{{- end -}}
{{- $groups := list -}}
{{- range $read.groups -}}{{- if .rules -}}{{- $groups = append $groups . -}}{{- end -}}{{- end -}}
{{- $limits := list -}}
{{- range $template, $seconds := $rule.backlogLimits -}}
{{- $limits = append $limits (dict "record" "canton:template_backlog_limit_seconds" "labels" (dict "template" $template) "expr" (printf "vector(%s)" (toJson $seconds))) -}}
{{- end -}}
{{- with $limits -}}{{- $groups = append $groups (dict "name" "canton-limits" "rules" .) -}}{{- end -}}
{{- toYaml (concat $groups (default list $rule.extraGroups)) -}}
{{- end -}}
