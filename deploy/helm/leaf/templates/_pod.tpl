{{- define "leaf.pod" -}}
metadata:
  labels: {{- mergeOverwrite (deepCopy .Values.podLabels) (include "leaf.selector" . | fromYaml) | toYaml | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "leaf.fullname" . }}
  automountServiceAccountToken: {{ eq .Values.registry "kubernetes" }}
  # Else Kubernetes sets LEAF_PORT=tcp://… for a Service named leaf.
  enableServiceLinks: false
  # More than LEAF_SHUTDOWN_DRAIN_MS, and the close that follows.
  terminationGracePeriodSeconds: {{ add 30 (div (int .Values.settings.LEAF_SHUTDOWN_DRAIN_MS) 1000) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - topologyKey: topology.kubernetes.io/zone
      {{- include "leaf.spread" . | nindent 6 }}
    - topologyKey: kubernetes.io/hostname
      {{- include "leaf.spread" . | nindent 6 }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  containers:
    - name: leaf-server
      image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
      {{- with .Values.image.pullPolicy }}
      imagePullPolicy: {{ . }}
      {{- end }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: management, containerPort: 8081 }
      env:
        {{- include "leaf.env" . | nindent 8 }}
      # The HTTP port opens at the end of the start, which waits for a database and a registry that are not up yet.
      startupProbe:
        httpGet: { path: /health/startup, port: management }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /health/live, port: management }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /health/ready, port: management }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources: {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- with .Values.volumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  {{- if or .Values.volumes (not (eq .Values.kind "StatefulSet")) }}
  volumes:
    {{- if not (eq .Values.kind "StatefulSet") }}
    # Only the list of hot tags is lost with the pod.
    - name: data
      emptyDir: { sizeLimit: 64Mi }
    {{- end }}
    {{- with .Values.volumes }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- end }}
{{- end -}}

{{- define "leaf.env" -}}
{{- if eq .Values.kind "StatefulSet" -}}
- { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: POD_NAMESPACE, valueFrom: { fieldRef: { fieldPath: metadata.namespace } } }
# The name of a pod stays when its address changes, and with mysql and zk_normal its worker ID, too.
- { name: LEAF_ADVERTISE_HOST, value: $(POD_NAME).{{ include "leaf.fullname" . }}-headless.$(POD_NAMESPACE).svc }
{{- else -}}
# For logs and the console only: a worker ID of a pool does not belong to an address.
- { name: LEAF_ADVERTISE_HOST, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
{{- end }}
- { name: LEAF_SNOWFLAKE_REGISTRY, value: {{ .Values.registry }} }
{{- if and (eq .Values.kind "StatefulSet") (eq .Values.registry "kubernetes") }}
# The pod prefers the worker ID of its number.
- name: LEAF_KUBERNETES_POD_INDEX
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } }
{{- end }}
# Metrics, admin API, monitor and console: the NetworkPolicy says who reaches them.
- { name: LEAF_MANAGEMENT_PORT, value: '8081' }
- { name: LEAF_DATA_DIR, value: /data }
{{- range $name, $key := .Values.secretSettings }}
{{- if hasKey $.Values.settings $name }}{{ fail (printf "%s is in settings and in secretSettings" $name) }}{{ end }}
- { name: {{ $name }}, valueFrom: { secretKeyRef: { name: {{ $.Values.existingSecret | quote }}, key: {{ $key | quote }} } } }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}
