{{/* The name of all objects */}}
{{- define "$chart.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Labels of all objects. They select the pods, so they stay the same in all versions. */}}
{{- define "$chart.labels" -}}
app.kubernetes.io/name: schedc
app.kubernetes.io/instance: {{ include "$chart.fullname" . }}
{{- end -}}

{{- define "$chart.podLabels" -}}
{{ include "$chart.labels" . }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "$chart.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (include "$chart.fullname" .) }}
{{- end -}}

{{- define "$chart.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "$chart.leaseNamespace" -}}
{{ .Values.leaderElection.resourceNamespace | default .Release.Namespace }}
{{- end -}}

{{- define "$chart.leaseName" -}}
{{ .Values.leaderElection.resourceName | default (include "$chart.fullname" .) }}
{{- end -}}
