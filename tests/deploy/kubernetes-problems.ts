import { knownCommands, unknownVariables } from './known-names.ts'

/** Structural checks of Kubernetes objects: what `kubectl apply` accepts, or rejects late, and what would not work together. */

// biome-ignore lint/suspicious/noExplicitAny: the shapes are what is being checked.
export type Manifest = any

const specKeys: Record<string, readonly string[]> = {
  'apps/v1 Deployment': ['replicas', 'selector', 'strategy', 'template'],
  'apps/v1 StatefulSet': [
    'podManagementPolicy',
    'replicas',
    'selector',
    'serviceName',
    'template',
    'volumeClaimTemplates',
  ],
  'v1 Service': ['clusterIP', 'ports', 'publishNotReadyAddresses', 'selector', 'type'],
  'v1 Secret': [],
  'policy/v1 PodDisruptionBudget': ['maxUnavailable', 'selector'],
  'networking.k8s.io/v1 NetworkPolicy': ['egress', 'ingress', 'podSelector', 'policyTypes'],
  'networking.k8s.io/v1 Ingress': ['ingressClassName', 'rules', 'tls'],
  'autoscaling/v2 HorizontalPodAutoscaler': ['maxReplicas', 'metrics', 'minReplicas', 'scaleTargetRef'],
  'monitoring.coreos.com/v1 ServiceMonitor': ['endpoints', 'selector'],
}
const podKeys = [
  'affinity',
  'automountServiceAccountToken',
  'containers',
  'enableServiceLinks',
  'imagePullSecrets',
  'nodeSelector',
  'securityContext',
  'terminationGracePeriodSeconds',
  'tolerations',
  'topologySpreadConstraints',
  'volumes',
]
const containerKeys = [
  'args',
  'env',
  'envFrom',
  'image',
  'imagePullPolicy',
  'lifecycle',
  'livenessProbe',
  'name',
  'ports',
  'readinessProbe',
  'resources',
  'securityContext',
  'startupProbe',
  'volumeMounts',
]
const probeKeys = ['failureThreshold', 'httpGet', 'periodSeconds', 'timeoutSeconds']
const probeNames = ['startupProbe', 'livenessProbe', 'readinessProbe']

const isWorkload = ({ kind }: Manifest): boolean => kind === 'Deployment' || kind === 'StatefulSet'
const matches = (labels: Record<string, string> = {}, selector: Record<string, string> = {}): boolean =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([key, value]) => labels[key] === value)
const podLabels = (workload: Manifest) => workload.spec.template.metadata.labels
const containersOf = (workload: Manifest): Manifest[] => workload.spec.template.spec.containers
const portNames = (workload: Manifest): string[] =>
  containersOf(workload).flatMap(({ ports }) => ports.map(({ name }: Manifest) => name))

/** The paths that probes and monitors request. */
export function requestedPaths(objects: readonly Manifest[]): string[] {
  const probes = objects
    .filter(isWorkload)
    .flatMap(containersOf)
    .flatMap(container => probeNames.map(name => container[name]?.httpGet.path))
  const monitors = objects
    .filter(({ kind }) => kind === 'ServiceMonitor')
    .flatMap(({ spec }) => spec.endpoints.map(({ path }: Manifest) => path))
  return [...new Set([...probes, ...monitors])]
}

/** `secretsGiven`: names of secrets that the person who deploys creates. */
export function problemsOf(objects: readonly Manifest[], secretsGiven: readonly string[] = []): string[] {
  const workloads = objects.filter(isWorkload)
  const services = objects.filter(({ kind }) => kind === 'Service')
  const secrets = objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
  const problems: string[] = []
  const seen = new Set<string>()

  for (const object of objects) {
    const { apiVersion, kind, metadata = {}, spec = {} } = object ?? {}
    const title = `${kind}/${metadata.name}`
    const report = (problem: string) => void problems.push(`${title}: ${problem}`)
    const onlyKeys = (what: string, value: object = {}, allowed: readonly string[]) => {
      for (const key of Object.keys(value)) if (!allowed.includes(key)) report(`${what} has an unknown key ${key}`)
    }

    const keys = specKeys[`${apiVersion} ${kind}`]
    if (!keys) {
      report(`${apiVersion} ${kind} is not a known kind`)
      continue
    }
    onlyKeys('the object', object, ['apiVersion', 'kind', 'metadata', 'spec', 'stringData', 'type'])
    onlyKeys('metadata', metadata, ['annotations', 'labels', 'name', 'namespace'])
    onlyKeys('spec', spec, keys)
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(metadata.name)) report('the name is not a DNS label')
    if (!metadata.namespace) report('the namespace is missing')
    if (seen.has(title)) report('there are two of it')
    seen.add(title)
    for (const [label, value] of Object.entries(metadata.labels ?? {})) {
      if (typeof value !== 'string' || !/^([A-Za-z0-9][\w.-]{0,61})?[A-Za-z0-9]$/.test(value)) {
        report(`the label ${label} is not valid`)
      }
    }

    const selected = (selector: Record<string, string>, among = workloads) => {
      const found = among.filter(candidate =>
        matches(isWorkload(candidate) ? podLabels(candidate) : candidate.metadata.labels, selector),
      )
      if (found.length === 0) report('its selector matches nothing')
      return found
    }

    if (isWorkload(object)) checkWorkload(object, report, onlyKeys)
    if (kind === 'Service') {
      for (const workload of selected(spec.selector)) {
        for (const { name, port, targetPort } of spec.ports) {
          if (!Number.isInteger(port)) report(`the port ${name} is not a number`)
          if (!portNames(workload).includes(targetPort)) report(`no container has the port ${targetPort}`)
        }
      }
    }
    if (kind === 'PodDisruptionBudget') selected(spec.selector.matchLabels)
    if (kind === 'NetworkPolicy') {
      for (const workload of selected(spec.podSelector.matchLabels)) {
        for (const { port } of spec.ingress.flatMap(({ ports }: Manifest) => ports)) {
          if (!portNames(workload).includes(port)) report(`no container has the port ${port}`)
        }
      }
      for (const { port } of spec.egress.flatMap(({ ports }: Manifest) => ports)) {
        if (!Number.isInteger(port)) report(`the outgoing port ${port} is not a number`)
      }
    }
    if (kind === 'Ingress') {
      for (const { host, http } of spec.rules) {
        if (spec.tls && !spec.tls.some(({ hosts }: Manifest) => hosts.includes(host))) report(`${host} has no TLS`)
        for (const { backend, path, pathType } of http.paths) {
          if (path !== '/' || pathType !== 'Prefix') report('only the prefix / serves all paths')
          const service = services.find(candidate => candidate.metadata.name === backend.service.name)
          const names = service?.spec.ports.map(({ name }: Manifest) => name) ?? []
          if (!names.includes(backend.service.port.name)) report(`its backend ${backend.service.name} is not served`)
        }
      }
    }
    if (kind === 'HorizontalPodAutoscaler') {
      const { scaleTargetRef, minReplicas, maxReplicas } = spec
      const target = workloads.find(
        candidate => candidate.kind === scaleTargetRef.kind && candidate.metadata.name === scaleTargetRef.name,
      )
      if (!target) report('its target does not exist')
      else if (!containersOf(target).every(({ resources }) => resources.requests.cpu))
        report('its target requests no CPU')
      if (!(minReplicas <= maxReplicas)) report('minReplicas is above maxReplicas')
    }
    if (kind === 'ServiceMonitor') {
      for (const service of selected(spec.selector.matchLabels, services)) {
        const names = service.spec.ports.map(({ name }: Manifest) => name)
        for (const { port } of spec.endpoints) if (!names.includes(port)) report(`no Service has the port ${port}`)
      }
    }
    if (kind === 'Secret') {
      for (const name of unknownVariables(Object.keys(object.stringData))) report(`${name} is not a setting`)
    }
  }

  function checkWorkload(
    workload: Manifest,
    report: (problem: string) => void,
    onlyKeys: (what: string, value: object, allowed: readonly string[]) => void,
  ): void {
    const { spec } = workload
    const pod = spec.template.spec
    onlyKeys('the pod', pod, podKeys)
    if (!matches(podLabels(workload), spec.selector.matchLabels)) report('its selector does not match its own pods')
    if (workload.kind === 'StatefulSet') {
      const service = services.find(({ metadata }) => metadata.name === spec.serviceName)
      if (service?.spec.clusterIP !== 'None') report(`serviceName ${spec.serviceName} is not a headless Service`)
    }
    if (pod.automountServiceAccountToken !== false) report('it mounts a service account token')
    if (pod.enableServiceLinks !== false) report('service links would add variables that look like settings')
    const { runAsNonRoot, runAsUser, runAsGroup, fsGroup, seccompProfile } = pod.securityContext
    if (!runAsNonRoot || !runAsUser || !runAsGroup || !fsGroup) report('the user, the group or fsGroup is missing')
    if (seccompProfile?.type !== 'RuntimeDefault') report('the seccomp profile is missing')
    for (const { labelSelector } of pod.topologySpreadConstraints) {
      if (!matches(podLabels(workload), labelSelector.matchLabels)) report('the topology spread selects other pods')
    }

    const volumes = [
      ...(pod.volumes ?? []).map(({ name }: Manifest) => name),
      ...(spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata.name),
    ]
    for (const container of containersOf(workload)) {
      onlyKeys('a container', container, containerKeys)
      if (!/:[\w][\w.-]*$/.test(container.image) || /:latest$/.test(container.image)) report('the image has no version')
      if (!container.args.every((arg: string) => knownCommands.has(arg))) report(`${container.args} is not a command`)
      const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext
      if (allowPrivilegeEscalation !== false || !readOnlyRootFilesystem || capabilities.drop[0] !== 'ALL') {
        report('the container has privileges it does not need')
      }
      if (!container.resources.requests?.memory || !container.resources.limits?.memory) report('memory is not limited')

      const ports = new Map(container.ports.map(({ name, containerPort }: Manifest) => [name, containerPort]))
      for (const name of probeNames) {
        const probe = container[name]
        if (!probe) {
          report(`the ${name} is missing`)
          continue
        }
        onlyKeys(`the ${name}`, probe, probeKeys)
        onlyKeys(`the ${name}`, probe.httpGet, ['path', 'port'])
        if (!ports.has(probe.httpGet.port)) report(`the ${name} uses a port that does not exist`)
      }
      for (const { name } of container.volumeMounts) if (!volumes.includes(name)) report(`there is no volume ${name}`)

      const names: string[] = container.env.map(({ name }: Manifest) => name)
      for (const name of unknownVariables(names)) report(`${name} is not a setting`)
      for (const name of names.filter((one, index) => names.indexOf(one) !== index)) report(`${name} is set twice`)
      for (const { name, value } of container.env) if (typeof value !== 'string') report(`${name} is not a string`)
      const settingOf = (wanted: string) => container.env.find(({ name }: Manifest) => name === wanted)?.value
      if (settingOf('HALYARD_METRICS_PORT') !== String(ports.get('metrics'))) report('the metrics port differs')
      if (ports.get('http') !== 8000) report('the image listens on port 8000')
      for (const { secretRef } of container.envFrom ?? []) {
        if (![...secrets, ...secretsGiven].includes(secretRef.name)) report(`there is no secret ${secretRef.name}`)
      }
      const folders = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
      const written = [settingOf('HALYARD_EDGE_DATA'), settingOf('DATABASE_URL')?.match(/^sqlite:(.+)$/)?.[1]]
      for (const path of written.filter(Boolean)) {
        if (!folders.some((folder: string) => path.startsWith(`${folder}/`))) report(`${path} is on no volume`)
      }
    }
  }

  return problems
}
