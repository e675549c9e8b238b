{{/* What the pods of workers, the API and the set-up share. Each takes (dict "root" $ ...). */}}

{{- define "memstream.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "memstream.selector" -}}
app.kubernetes.io/name: memstream
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "memstream.labels" -}}
{{ include "memstream.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "memstream.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "memstream.environment" -}}
{{- range $name, $value := .Values.settings }}
- name: MEMSTREAM_{{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $value := .Values.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $from := .Values.secrets }}
- name: MEMSTREAM_{{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $from.name }}
      key: {{ $from.key }}
{{- end }}
{{- range $variable, $key := dict "CA" .Values.kafkaFiles.ca "CERTIFICATE" .Values.kafkaFiles.certificate "KEY" .Values.kafkaFiles.key }}
{{- if and $.Values.kafkaFiles.secret $key }}
- name: MEMSTREAM_KAFKA_{{ $variable }}_FILE
  value: /etc/memstream/kafka/{{ $key }}
{{- end }}
{{- end }}
{{- end }}

{{- define "memstream.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    emptyDir:
      sizeLimit: {{ .Values.dataSize }}
  - name: tmp
    emptyDir:
      sizeLimit: 256Mi
{{- if .Values.kafkaFiles.secret }}
  - name: kafka
    secret:
      secretName: {{ .Values.kafkaFiles.secret }}
      defaultMode: 288 # 0440
{{- end }}
{{- end }}

{{- define "memstream.container" -}}
image: {{ include "memstream.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /var/lib/memstream
  - name: tmp
    mountPath: /tmp
{{- if .Values.kafkaFiles.secret }}
  - name: kafka
    mountPath: /etc/memstream/kafka
    readOnly: true
{{- end }}
{{- end }}
