{{- define "rdmawatch.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "rdmawatch.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "rdmawatch.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "rdmawatch.selector" -}}
app.kubernetes.io/name: {{ include "rdmawatch.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "rdmawatch.labels" -}}
{{ include "rdmawatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* What the collectors that were asked for by name need beyond an ordinary
user: {"capabilities": [...], "devices": [...]}. */}}
{{- define "rdmawatch.privileges" -}}
{{- $known := dict -}}
{{- range .Files.Get "files/collectors.yaml" | fromYamlArray -}}
{{- $_ := set $known .name . -}}
{{- end -}}
{{- $capabilities := list -}}
{{- $devices := list -}}
{{- range $name, $on := .Values.collectors -}}
{{- if not (hasKey $known $name) -}}
{{- fail (printf "collectors: there is no collector %q; there are %s" $name (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if $on -}}
{{- $capabilities = concat $capabilities (index $known $name).capabilities -}}
{{- $devices = concat $devices (index $known $name).devices -}}
{{- end -}}
{{- end -}}
{{- dict "capabilities" ($capabilities | uniq | sortAlpha) "devices" ($devices | uniq | sortAlpha) | toJson -}}
{{- end -}}

{{/* No right at all, unless a collector asks for one. */}}
{{- define "rdmawatch.securityContext" -}}
{{- $need := include "rdmawatch.privileges" . | fromJson -}}
readOnlyRootFilesystem: true
{{- if $need.devices }}
# A container may open {{ $need.devices | join ", " }} only if it is privileged: a
# hostPath brings the file, but no leave of the device cgroup.
privileged: true
runAsUser: 0
{{- else }}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
  {{- with $need.capabilities }}
  # Kubernetes makes a capability effective for root only.
  add: {{ . | toJson }}
  {{- end }}
runAsUser: {{ ternary 0 65534 (gt (len $need.capabilities) 0) }}
runAsGroup: {{ ternary 0 65534 (gt (len $need.capabilities) 0) }}
runAsNonRoot: {{ eq (len $need.capabilities) 0 }}
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- end -}}

{{/* The endpoint of .monitor, in .cluster. */}}
{{- define "rdmawatch.endpoint" -}}
- port: metrics
  path: /metrics
  interval: {{ .monitor.interval }}
  scrapeTimeout: {{ .monitor.scrapeTimeout }}
  {{- with .monitor.endpoint }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  relabelings:
    # The rules ask for this job by name.
    - targetLabel: job
      replacement: rdmawatch
    # The node, as in the alerts that it sends itself, and over every restart.
    - sourceLabels: [__meta_kubernetes_pod_node_name]
      targetLabel: instance
    # A new pod on a node is not a new node.
    - action: labeldrop
      regex: pod|container|endpoint
    {{- with .cluster }}
    - targetLabel: cluster
      replacement: {{ . | quote }}
    {{- end }}
    {{- with .monitor.relabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
