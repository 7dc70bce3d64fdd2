{{/* The pod, of a Deployment as of a StatefulSet. */}}
{{- define "canton-exporter.pod" -}}
{{- $watched := include "canton-exporter.watched" . | fromYaml -}}
{{- $files := ternary dict $watched.files (not (empty (include "canton-exporter.demo" .))) -}}
metadata:
  labels: {{- merge (include "canton-exporter.labels" . | fromYaml) (default dict .Values.podLabels) (default dict .Values.commonLabels) | toYaml | nindent 4 }}
  {{- $annotations := merge (dict "kubectl.kubernetes.io/default-container" "exporter") (default dict .Values.podAnnotations) }}
  {{- if not .Values.autoReload.enabled }}
  {{- $_ := set $annotations "checksum/config" (toYaml $watched.config | sha256sum) }}
  {{- end }}
  annotations: {{- toYaml $annotations | nindent 4 }}
spec:
  {{- with include "canton-exporter.pullSecrets" . | fromYamlArray }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ include "canton-exporter.serviceAccount" . | quote }}
  automountServiceAccountToken: {{ default false .Values.serviceAccount.automount }}
  # With service links, a service called canton-exporter would set CANTON_EXPORTER_PORT and others, which are settings.
  enableServiceLinks: false
  {{- with .Values.podSecurityContext }}
  securityContext: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not (kindIs "invalid" .Values.terminationGracePeriodSeconds) }}
  terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
  {{- end }}
  {{- with .Values.initContainers }}
  initContainers: {{- tpl (toYaml .) $ | nindent 4 }}
  {{- end }}
  containers:
    - name: exporter
      image: {{ include "canton-exporter.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- with .Values.securityContext }}
      securityContext: {{- toYaml . | nindent 8 }}
      {{- end }}
      args: {{- include "canton-exporter.arguments" . | trim | nindent 8 }}
      {{- with include "canton-exporter.environment" . | fromYamlArray }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.extraEnvFrom }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: {{ .Values.service.portName }}
          containerPort: 10066
          protocol: TCP
      {{- range $kind, $path := dict "liveness" "/-/healthy" "readiness" "/-/ready" "startup" "/-/healthy" }}
      {{- with get $.Values (printf "%sProbe" $kind) }}
      {{ $kind }}Probe: {{- include "canton-exporter.probe" (list $ . $path) | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- with .Values.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with include "canton-exporter.mounts" (list . $files) | fromYamlArray }}
      volumeMounts: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- tpl (toYaml .) $ | nindent 4 }}
    {{- end }}
  {{- with include "canton-exporter.volumes" (list . $files) | fromYamlArray }}
  volumes: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- range $name := list "priorityClassName" "runtimeClassName" "dnsPolicy" "nodeSelector" "affinity" "tolerations" "dnsConfig" "hostAliases" }}
  {{- with get $.Values $name }}
  {{ $name }}: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  {{- $own := dict "labelSelector" (dict "matchLabels" (include "canton-exporter.selector" $ | fromYaml)) }}
  topologySpreadConstraints:
    {{- range . }}
    - {{- (hasKey . "labelSelector" | ternary (list .) (list . $own)) | include "canton-exporter.joined" | nindent 6 }}
    {{- end }}
  {{- end }}
{{- end -}}

{{- define "canton-exporter.arguments" -}}
{{- $web := .Values.web -}}
{{- if include "canton-exporter.demo" . }}
- demo
{{- else }}
- --config.file=/etc/canton-exporter/config/{{ ternary .Values.existingConfig.key "exporter.yaml" (not (empty (include "canton-exporter.hasExistingConfig" .))) }}
{{- if .Values.autoReload.enabled }}
- --config.enable-auto-reload
- --config.auto-reload-interval={{ .Values.autoReload.interval }}
{{- end }}
{{- end }}
- --web.telemetry-path={{ $web.telemetryPath }}
- --web.max-requests={{ int $web.maxRequests }}
{{- $hosts := default (list) $web.allowedHosts -}}
{{- if .Values.ingress.enabled }}{{ $hosts = concat $hosts (default (list) .Values.ingress.hosts) }}{{ end -}}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts (default (list) .Values.httpRoute.hostnames) }}{{ end -}}
{{- range $host := $hosts | uniq }}
- --web.allowed-host={{ tpl $host $ }}
{{- end }}
{{- if $web.disableExporterMetrics }}
- --web.disable-exporter-metrics
{{- end }}
- --log.level={{ .Values.log.level }}
- --log.format={{ .Values.log.format }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Where it listens is told by the environment, so that `canton-exporter health` knows it too */}}
{{- define "canton-exporter.environment" -}}
{{- $web := $.Values.web -}}
{{- $own := list (dict "name" "CANTON_EXPORTER_WEB__LISTEN_ADDRESS" "value" ":10066") -}}
{{- with $web.routePrefix -}}
{{- $own = append $own (dict "name" "CANTON_EXPORTER_WEB__ROUTE_PREFIX" "value" .) -}}
{{- end -}}
{{- with $web.externalUrl -}}
{{- $own = append $own (dict "name" "CANTON_EXPORTER_WEB__EXTERNAL_URL" "value" .) -}}
{{- end -}}
{{- if or $web.existingSecret $web.tlsSecret -}}
{{- $file := ternary $web.existingSecretKey "web-config.yml" (not (empty $web.existingSecret)) -}}
{{- $own = append $own (dict "name" "CANTON_EXPORTER_WEB__CONFIG__FILE" "value" (printf "/etc/canton-exporter/web/%s" $file)) -}}
{{- end -}}
{{- if gt (int $.Values.shards) 1 -}}
{{- $name := dict "name" "CANTON_EXPORTER_SHARD" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name")) -}}
{{- $total := dict "name" "CANTON_EXPORTER_TOTAL_SHARDS" "value" (int $.Values.shards | toString) -}}
{{- $own = concat $own (list $name $total) -}}
{{- end -}}
{{- include "canton-exporter.unique" (list (list $own (default list $.Values.extraEnv)) "name") -}}
{{- end -}}

{{/* (list $ PROBE PATH): a probe, with the chart's handler if it has none of its own */}}
{{- define "canton-exporter.probe" -}}
{{- $ := index . 0 -}}
{{- $probe := deepCopy (index . 1) -}}
{{- if not (or $probe.exec $probe.tcpSocket $probe.grpc) -}}
{{- $handler := dict "path" (include "canton-exporter.path" (list $ (index . 2))) "port" $.Values.service.portName "scheme" (include "canton-exporter.scheme" $ | upper) -}}
{{- $_ := set $probe "httpGet" (merge (default dict $probe.httpGet) $handler) -}}
{{- end -}}
{{- toYaml $probe -}}
{{- end -}}

{{- define "canton-exporter.volumes" -}}
{{- $ := index . 0 -}}
{{- $existing := $.Values.existingConfig -}}
{{- $own := list -}}
{{- if $existing.secret -}}
{{- $own = append $own (dict "name" "exporter-config" "secret" (dict "secretName" $existing.secret)) -}}
{{- else if not (include "canton-exporter.demo" $) -}}
{{- $own = append $own (dict "name" "exporter-config" "configMap" (dict "name" (default (include "canton-exporter.fullname" $) $existing.configMap))) -}}
{{- end -}}
{{- with index . 1 -}}
{{/* One that is missing is a fault of its target, and must not keep the others from being watched. */}}
{{- $sources := list -}}
{{- range . -}}
{{- $sources = append $sources (dict "secret" (dict "name" .name "optional" true "items" (list (dict "key" .key "path" .path)))) -}}
{{- end -}}
{{- $own = append $own (dict "name" "exporter-secrets" "projected" (dict "sources" $sources)) -}}
{{- end -}}
{{- if $.Values.web.existingSecret -}}
{{- $own = append $own (dict "name" "exporter-web" "secret" (dict "secretName" $.Values.web.existingSecret)) -}}
{{- else if $.Values.web.tlsSecret -}}
{{- $own = append $own (dict "name" "exporter-web" "configMap" (dict "name" (include "canton-exporter.suffixed" (list $ "-web")))) -}}
{{- end -}}
{{- with $.Values.web.tlsSecret -}}
{{- $own = append $own (dict "name" "exporter-tls" "secret" (dict "secretName" .)) -}}
{{- end -}}
{{- include "canton-exporter.unique" (list (list $own (default list $.Values.extraVolumes)) "name") -}}
{{- end -}}

{{- define "canton-exporter.mounts" -}}
{{- $ := index . 0 -}}
{{- $own := list -}}
{{- $needed := dict "config" (not (include "canton-exporter.demo" $)) "secrets" (index . 1) "web" (or $.Values.web.existingSecret $.Values.web.tlsSecret) "tls" $.Values.web.tlsSecret -}}
{{- range $name, $isNeeded := $needed -}}
{{- if $isNeeded -}}
{{- $own = append $own (dict "name" (printf "exporter-%s" $name) "mountPath" (printf "/etc/canton-exporter/%s" $name) "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- include "canton-exporter.unique" (list (list $own (default list $.Values.extraVolumeMounts)) "mountPath") -}}
{{- end -}}
