{{/* Refuses values that contradict each other, before anything is installed. */}}
{{- define "template-run.checks" -}}
{{- if not .Values.image.repository }}{{ fail "image.repository is empty. Name the image that deploy/Containerfile builds." }}{{ end -}}
{{- if not .Values.baseUrl }}{{ fail "baseUrl is empty. Write the origin that clients use, such as https://runs.example.com." }}{{ end -}}
{{- if not .Values.catalog.existingClaim }}{{ fail "catalog.existingClaim is empty. Name the volume claim that has the catalog." }}{{ end -}}
{{- if .Values.redis.url -}}
{{- if not .Values.outputs.place }}{{ fail "outputs.place is empty. Nodes with redis.url need /outputs or s3://BUCKET/PREFIX." }}{{ end -}}
{{- if .Values.data.existingClaim }}{{ fail "data.existingClaim is for a single node. Nodes with redis.url keep nothing there." }}{{ end -}}
{{- else -}}
{{- if gt (int .Values.replicas) 1 }}{{ fail "replicas is more than 1, but redis.url is empty. Several nodes share a Redis." }}{{ end -}}
{{- if .Values.outputs.place }}{{ fail "outputs.place is for nodes with redis.url. A single node keeps its outputs in its data." }}{{ end -}}
{{- end -}}
{{- if and (eq .Values.outputs.place "/outputs") (not .Values.outputs.existingClaim) -}}
{{ fail "outputs.existingClaim is empty. The place /outputs needs a volume claim that all nodes can write to." }}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.host is empty. Name the host of the ingress." }}{{ end -}}
{{- end -}}

{{/* The name of all objects: that of the release, with the name of the chart unless the release has it already. */}}
{{- define "template-run.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "template-run.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "template-run.labels" -}}
{{ include "template-run.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
