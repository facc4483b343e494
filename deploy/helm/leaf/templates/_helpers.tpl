{{- define "leaf.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* The entries of a flow mapping. */ -}}
{{- define "leaf.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- if .Values.releaseLabels -}}
, app.kubernetes.io/instance: {{ .Release.Name | quote -}}
, app.kubernetes.io/version: {{ .Chart.AppVersion | quote -}}
, app.kubernetes.io/managed-by: {{ .Release.Service -}}
, helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}
{{- end -}}

{{- /* What selects the pods. It cannot change after the installation. */ -}}
{{- define "leaf.selector" -}}
{ app.kubernetes.io/name: {{ .Chart.Name }}
{{- if .Values.releaseLabels }}, app.kubernetes.io/instance: {{ .Release.Name | quote }}{{ end }}, app.kubernetes.io/component: server }
{{- end -}}

{{- define "leaf.spread" -}}
maxSkew: 1
whenUnsatisfiable: {{ .Values.topologySpread.whenUnsatisfiable }}
labelSelector: { matchLabels: {{ include "leaf.selector" . }} }
{{- end -}}
