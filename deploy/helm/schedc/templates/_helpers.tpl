{{/* The name of all objects */}}
{{- define "schedc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Labels of all objects. They select the pods, so they stay the same in all versions. */}}
{{- define "schedc.labels" -}}
app.kubernetes.io/name: schedc
app.kubernetes.io/instance: {{ include "schedc.fullname" . }}
{{- end -}}

{{- define "schedc.podLabels" -}}
{{ include "schedc.labels" . }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "schedc.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (include "schedc.fullname" .) }}
{{- end -}}

{{- define "schedc.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "schedc.leaseNamespace" -}}
{{ .Values.leaderElection.resourceNamespace | default .Release.Namespace }}
{{- end -}}

{{- define "schedc.leaseName" -}}
{{ .Values.leaderElection.resourceName | default (include "schedc.fullname" .) }}
{{- end -}}
