{{- define "halyard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "halyard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "halyard.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "halyard.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels below never change in an upgrade: selectors are immutable. */}}
{{- define "halyard.selector" -}}
app.kubernetes.io/name: {{ include "halyard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "halyard.labels" -}}
{{ include "halyard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "halyard.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "halyard.secretName" -}}
{{- default (include "halyard.fullname" .) .Values.secret.existingSecret -}}
{{- end -}}

{{- define "halyard.edgeSecretName" -}}
{{- default (printf "%s-edge" (include "halyard.fullname" .)) .Values.edge.secret.existingSecret -}}
{{- end -}}

{{- define "halyard.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "halyard.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end -}}

{{- define "halyard.containerPorts" -}}
- name: http
  containerPort: 8000
- name: metrics
  containerPort: {{ .Values.metrics.port }}
{{- end -}}

{{/* Evaluation works from memory while the database is unavailable, so readiness asks for evaluation only. */}}
{{- define "halyard.probes" -}}
startupProbe:
  httpGet:
    path: /_livez
    port: http
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /_livez
    port: http
  periodSeconds: 10
  timeoutSeconds: 3
readinessProbe:
  httpGet:
    path: /_readyz?for=evaluation
    port: http
  periodSeconds: 5
  timeoutSeconds: 3
{{- end -}}

{{/* Load balancers notice that a pod terminates a moment after the pod does. */}}
{{- define "halyard.lifecycle" -}}
preStop:
  exec:
    command: ["sleep", "5"]
{{- end -}}

{{- define "halyard.scheduling" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "halyard.networkPolicyRules" -}}
policyTypes:
  - Ingress
  - Egress
ingress:
  - ports:
      - port: http
  - ports:
      - port: metrics
    from:
      - namespaceSelector:
          matchLabels:
            kubernetes.io/metadata.name: {{ .Values.networkPolicy.monitoringNamespace }}
egress:
  - ports:
      - port: 53
        protocol: UDP
      - port: 53
        protocol: TCP
  - ports:
      {{- range .Values.networkPolicy.egressPorts }}
      - port: {{ . }}
      {{- end }}
{{- end -}}
