import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { createTestDatabase, onEachDatabase } from '../packages/server/src/testing/databases.ts'
import { chartValues, renderChart, type Values } from './deploy/helm-template.ts'
import { knownCommands, unknownVariables } from './deploy/known-names.ts'
import { type Manifest, problemsOf, requestedPaths } from './deploy/kubernetes-problems.ts'
import { root } from './faults/server-process.ts'
import { freePort } from './free-port.ts'

const folder = join(root, 'deploy')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const readRoot = (name: string): string => readFileSync(join(root, name), 'utf8')
const { version } = JSON.parse(readRoot('package.json')) as { version: string }

/** Strict: a duplicate key, a tab or a wrong indentation is an error. */
function documents(text: string): Manifest[] {
  return parseAllDocuments(text, { strict: true, uniqueKeys: true }).map(document => {
    if ('errors' in document && document.errors[0]) throw document.errors[0]
    return 'toJS' in document ? document.toJS() : undefined
  })
}

interface Instruction {
  readonly name: string
  readonly value: string
}

/** The stages of the Dockerfile, with continued lines joined. */
function stagesOf(text: string): Instruction[][] {
  const stages: Instruction[][] = []
  for (const line of text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')) {
    const [, name, value] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, value })
  }
  return stages
}

const dockerfile = read('Dockerfile')
const stages = stagesOf(dockerfile)
const image = stages.at(-1)!
const valuesOf = (stage: readonly Instruction[], wanted: string): string[] =>
  stage.filter(({ name }) => name === wanted).map(({ value }) => value)
const imageEnvironment = Object.fromEntries(
  [
    ...valuesOf(image, 'ENV')
      .join(' ')
      .matchAll(/(\w+)=(\S+)/g),
  ].map(([, name, value]) => [name!, value!]),
)
const runtimePackages = /copy-runtime-packages\.mjs \/runtime\/node_modules (.+)/
  .exec(valuesOf(stages[1]!, 'RUN').join('\n'))![1]!
  .split(/\s+/)

const plain = readdirSync(join(folder, 'kubernetes')).flatMap(name => documents(read(`kubernetes/${name}`)))

const chart = join(folder, 'helm/halyard')
const chartCases: Record<string, Values> = {
  'default values': {},
  ...Object.fromEntries(
    readdirSync(join(chart, 'ci')).map(name => [name, parse(readFileSync(join(chart, 'ci', name), 'utf8'))]),
  ),
}
const rendered = (overrides: Values, release?: string): Manifest[] =>
  [...renderChart(chart, overrides, release)]
    .filter(([file]) => file !== 'NOTES.txt')
    .flatMap(([, text]) => documents(text))
    .filter(object => object !== null && object !== undefined)
const kindsOf = (objects: readonly Manifest[]): string[] => objects.map(({ kind }) => kind).sort()

it('every file names the version of package.json', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /Dockerfile$|\.yaml$/.test(name),
  )
  const versions = names.flatMap(name =>
    [...read(name).matchAll(/\bhalyard:(\d[\w.-]*)|^ARG VERSION=(\S+)/gm)].map(([, tag, argument]) => tag ?? argument),
  )
  expect(versions.length).toBeGreaterThan(5)
  expect(new Set(versions)).toEqual(new Set([version]))
})

describe('the image', () => {
  it('is built on the version of Node that .nvmrc names', () => {
    const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)!
    expect(base).toBe(`node:${readRoot('.nvmrc').trim()}-slim`)
    for (const stage of stages) expect(stage[0]!.value).toMatch(/^\$\{NODE_IMAGE\}/)
  })

  it('installs from the manifests alone, so that changed sources do not repeat the installation', () => {
    const build = stages[1]!.map(({ name, value }) => `${name} ${value}`)
    const install = build.findIndex(line => line.includes('npm ci'))
    expect(build.slice(0, install).filter(line => line.startsWith('COPY'))).toEqual([
      'COPY --from=manifests /halyard ./',
    ])
    expect(stages[0]!.at(-1)!.value).toContain('! -name package.json')
  })

  it('copies what exists and what its ignore file lets through', () => {
    const sources = stages.flatMap(stage =>
      valuesOf(stage, 'COPY')
        .filter(value => !value.startsWith('--from='))
        .flatMap(value => value.split(/\s+/).slice(0, -1)),
    )
    expect(sources).toContain('packages')
    expect(sources.filter(source => !existsSync(join(root, source)) || isIgnored(source))).toEqual([])
    const tracked = execFileSync('git', ['ls-files', 'packages', 'scripts', 'examples/plugins'], { cwd: root })
    const dropped = tracked
      .toString()
      .split('\n')
      .filter(name => name !== '' && !/\.test\.tsx?$/.test(name) && isIgnored(name))
    expect(dropped).toEqual([])
  })

  it.each([
    '.env',
    'deploy/.env',
    'deploy/secrets/secret_key',
    'packages/server/.env.local',
    'packages/server/data/halyard.db',
    'data/halyard.db',
    'data/halyard.key',
    'node_modules/pg/package.json',
    'packages/server/dist/halyard.js',
    '.git/config',
  ])('never sees %s in its build context', path => {
    expect(isIgnored(path)).toBe(true)
  })

  it('has only the bundle and the packages that the bundle does not contain', () => {
    const [, list] = /externalPackages = \[([^\]]*)\]/.exec(readRoot('scripts/server-bundle.mjs'))!
    expect(runtimePackages.toSorted()).toEqual([...list!.matchAll(/'([^']+)'/g)].map(([, name]) => name).toSorted())
    const copied = valuesOf(image, 'COPY').map(value => value.split(/\s+/).at(-2))
    expect(copied).toEqual([
      'LICENSE',
      'examples/plugins',
      '/runtime/node_modules',
      '/halyard/packages/server/package.json',
      '/halyard/packages/server/dist',
    ])
    expect(valuesOf(image, 'RUN').join()).not.toContain('npm')
  })

  it('runs as a user without privileges and names known settings and commands', () => {
    const names = image.map(({ name }) => name)
    expect(names.lastIndexOf('USER')).toBeGreaterThan(names.lastIndexOf('RUN'))
    expect(valuesOf(image, 'USER')).toEqual(['1000:1000'])
    expect(unknownVariables(Object.keys(imageEnvironment))).toEqual([])
    const commands = [...valuesOf(image, 'CMD'), ...valuesOf(image, 'HEALTHCHECK')].map(
      value => (JSON.parse(/\[.*\]/.exec(value)![0]) as string[]).at(-1)!,
    )
    expect(commands).toEqual(['serve', 'health'])
    expect(commands.filter(command => !knownCommands.has(command))).toEqual([])
    expect(imageEnvironment.HALYARD_PLUGIN_DIR).toBe('/halyard/examples/plugins')
    expect(imageEnvironment).not.toHaveProperty('DATABASE_URL')
    for (const label of ['title', 'licenses', 'version', 'revision', 'source']) {
      expect(valuesOf(image, 'LABEL').join()).toContain(`org.opencontainers.image.${label}=`)
    }
  })
})

/** What Docker leaves out: the last pattern that matches the path, or a folder above it, decides. */
function isIgnored(path: string): boolean {
  const parts = path.split('/')
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  let ignored = false
  for (const line of read('Dockerfile.dockerignore').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.replace(/^!/, '')
    const expression = pattern
      .split('**/')
      .map(part => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '[^/]*'))
      .join('(?:.*/)?')
    if (prefixes.some(prefix => new RegExp(`^${expression}$`).test(prefix))) ignored = !line.startsWith('!')
  }
  return ignored
}

onEachDatabase('the files of the image', dialect => {
  it('serve the dashboard and every path that probes and monitors request', async () => {
    const home = mkdtempSync(join(tmpdir(), 'halyard-image-'))
    const database = await createTestDatabase(dialect, 'empty')
    const script = join(folder, 'copy-runtime-packages.mjs')
    execFileSync(process.execPath, [script, join(home, 'node_modules'), ...runtimePackages])
    cpSync(join(root, 'packages/server/dist'), join(home, 'dist'), { recursive: true })
    cpSync(join(root, 'packages/server/package.json'), join(home, 'package.json'))
    mkdirSync(join(home, 'data'))
    const url = `http://127.0.0.1:${await freePort()}`
    const server = spawn(process.execPath, ['dist/halyard.js', 'serve'], {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        ...imageEnvironment,
        HOST: '127.0.0.1',
        PORT: new URL(url).port,
        ...(dialect === 'postgres' && { DATABASE_URL: database.url }),
      },
      stdio: 'ignore',
    })
    const ended = new Promise(resolve => server.on('close', resolve))
    try {
      const status = (path: string) => fetch(url + path).then(response => response.status, String)
      await expect.poll(() => status('/_readyz')).toBe(200)
      const paths = requestedPaths([...plain, ...rendered(chartCases['postgres-values.yaml']!)])
      expect(paths.toSorted()).toEqual(['/_livez', '/_readyz?for=evaluation', '/metrics'])
      for (const path of [...paths, '/']) expect(await status(path), path).toBe(200)
      expect(existsSync(join(home, 'data/halyard.db'))).toBe(dialect === 'sqlite')
    } finally {
      server.kill('SIGTERM')
      expect(await ended).toBe(0)
      await database.drop()
      rmSync(home, { recursive: true, force: true })
    }
  })
})

describe('Kubernetes', () => {
  it('gets manifests that fit together', () => {
    const given = ['halyard.yaml', 'edge.yaml'].flatMap(name =>
      [...read(`kubernetes/${name}`).matchAll(/create secret generic (\S+)/g)].map(([, secret]) => secret!),
    )
    expect(kindsOf(plain)).toEqual([
      'Deployment',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceMonitor',
    ])
    expect(problemsOf(plain, given)).toEqual([])
  })

  it('gets secrets whose keys are settings', () => {
    const text = ['halyard.yaml', 'edge.yaml'].map(name => read(`kubernetes/${name}`)).join()
    const keys = [...text.matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, key]) => key!)
    expect(keys).toHaveLength(3)
    expect(unknownVariables(keys)).toEqual([])
  })

  const server = (objects: Manifest[]): Manifest => objects.find(({ kind }) => kind === 'Deployment')
  it.each<[string, (objects: Manifest[]) => void, string]>([
    [
      'a misspelled setting',
      all => server(all).spec.template.spec.containers[0].env.push({ name: 'HALYARD_WORKER', value: '2' }),
      'HALYARD_WORKER is not a setting',
    ],
    [
      'a selector without pods',
      all => {
        all.find(({ kind }) => kind === 'Service').spec.selector = { app: 'other' }
      },
      'its selector matches nothing',
    ],
    [
      'a probe of an unknown port',
      all => {
        server(all).spec.template.spec.containers[0].readinessProbe.httpGet.port = 'web'
      },
      'the readinessProbe uses a port that does not exist',
    ],
    [
      'a misplaced key',
      all => {
        server(all).spec.containers = []
      },
      'spec has an unknown key containers',
    ],
    [
      'an image without a version',
      all => {
        server(all).spec.template.spec.containers[0].image = 'halyard:latest'
      },
      'the image has no version',
    ],
    [
      'a volume that is not declared',
      all => {
        server(all).spec.template.spec.volumes = []
      },
      'there is no volume tmp',
    ],
    [
      'a secret that no one creates',
      all => {
        server(all).spec.template.spec.containers[0].envFrom[0].secretRef.name = 'other'
      },
      'there is no secret other',
    ],
  ])('checks report %s', (_title, change, expected) => {
    const objects = structuredClone(plain)
    change(objects)
    expect(problemsOf(objects, ['halyard', 'halyard-edge']).join('\n')).toContain(expected)
  })
})

describe('the Helm chart', () => {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))
  const schemaErrors = (overrides: Values) => Errors(schema, chartValues(chart, overrides))[1]

  it('has the version of the server', () => {
    const { version: chartVersion, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
    expect([chartVersion, appVersion]).toEqual([version, version])
  })

  it.each(Object.entries(chartCases))('renders objects that fit together with %s', (_name, overrides) => {
    const { secret, edge } = chartValues(chart, overrides) as Manifest
    expect(problemsOf(rendered(overrides), [secret.existingSecret, edge.secret.existingSecret])).toEqual([])
    expect(schemaErrors(overrides)).toEqual([])
  })

  it('is one pod with a persistent SQLite file by default', () => {
    const objects = rendered({})
    expect(kindsOf(objects)).toEqual(['Service', 'Service', 'StatefulSet'])
    const { spec } = objects.find(({ kind }) => kind === 'StatefulSet')
    expect(spec.replicas).toBe(1)
    expect(spec.template.spec.containers[0].image).toBe(`halyard:${version}`)
    expect(spec.template.spec.containers[0].env).toContainEqual({
      name: 'DATABASE_URL',
      value: 'sqlite:/halyard/data/halyard.db',
    })
  })

  it('renders PostgreSQL, edges, ingress, autoscaling, policies and monitoring', () => {
    const objects = rendered(chartCases['postgres-values.yaml']!)
    expect(kindsOf(objects)).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      'Secret',
      'Service',
      'Service',
      'Service',
      'Service',
      'ServiceMonitor',
      'StatefulSet',
    ])
    const { spec } = objects.find(({ kind }) => kind === 'Deployment')
    expect(spec, 'the autoscaler sets the number of pods').not.toHaveProperty('replicas')
    const env = Object.fromEntries(
      spec.template.spec.containers[0].env.map(({ name, value }: Manifest) => [name, value]),
    )
    expect(env).toMatchObject({
      DATABASE_URL: 'postgres://',
      PGHOST: 'postgres.example.internal',
      HALYARD_PUBLIC_URL: 'https://flags.example.com',
      TRUST_PROXY: '1',
      HALYARD_WORKERS: '2',
    })
    expect(objects.find(({ kind }) => kind === 'Secret').stringData.PGPASSWORD).toBe('quoted "p/a#s@s?" word')
  })

  it('keeps names within the limits of Kubernetes', () => {
    const release = 'a-release-name-that-is-as-long-as-helm-allows-it-to-be'
    expect(problemsOf(rendered(chartCases['postgres-values.yaml']!, release), ['edge-key'])).toEqual([])
  })

  it.each<[Values, string]>([
    [{ autoscaling: { enabled: true } }, 'autoscaling.enabled needs database.type=postgres'],
    [{ database: { type: 'postgres' } }, 'needs secret.existingSecret or secret.values'],
    [{ edge: { enabled: true } }, 'needs edge.secret.existingSecret or edge.secret.values'],
  ])('refuses %o and says why', (overrides, message) => {
    expect(() => rendered(overrides)).toThrow(message)
  })

  it.each<[Values]>([
    [{ unknown: true }],
    [{ database: { type: 'mysql' } }],
    [{ config: { HALYARD_BODY_BYTES_MAX: 20_971_520 } }],
    [{ config: { 'not a name': 'x' } }],
    [{ image: { tag: 'latest' } }],
    [{ metrics: { port: 0 } }],
    [{ edge: { upstream: 'flags.example.com' } }],
  ])('has a schema that rejects %o', overrides => {
    expect(schemaErrors(overrides)).not.toEqual([])
  })

  it('describes every value in its schema, and no other', () => {
    const defined = (schemaOf: Manifest, values: Manifest, path: string): string[] => {
      const target = schemaOf.$ref ? schema.$defs[schemaOf.$ref.split('/').at(-1)] : schemaOf
      if (!target.properties) return []
      const missing = Object.keys(target.properties).filter(key => key !== 'global' && !(key in values))
      return [
        ...missing.map(key => `${path}${key}`),
        ...Object.keys(values).flatMap(key => defined(target.properties[key], values[key], `${path}${key}.`)),
      ]
    }
    expect(defined(schema, chartValues(chart, {}), '')).toEqual([])
  })

  it('ends with notes that say how to sign in', () => {
    for (const overrides of Object.values(chartCases)) {
      expect(renderChart(chart, overrides).get('NOTES.txt')).toContain('setup link')
    }
  })
})

describe.each(['compose.yaml', 'compose.postgres.yaml'])('%s', name => {
  const text = read(name)
  const compose = documents(text)[0]!
  const services: [string, Manifest][] = Object.entries(compose.services)
  const halyard = compose.services.halyard

  it('uses known keys only', () => {
    const allowed = [
      ...['build', 'cap_add', 'cap_drop', 'depends_on', 'deploy', 'environment', 'expose', 'healthcheck', 'image'],
      ...['init', 'logging', 'networks', 'ports', 'read_only', 'restart', 'secrets', 'security_opt', 'shm_size'],
      ...['stop_grace_period', 'tmpfs', 'volumes'],
    ]
    for (const [, service] of services) expect(Object.keys(service).filter(key => !allowed.includes(key))).toEqual([])
    const sections = ['name', 'networks', 'secrets', 'services', 'volumes']
    expect(Object.keys(compose).filter(key => !sections.includes(key))).toEqual([])
  })

  it('names known settings only', () => {
    const named = services.flatMap(([, { environment = {} }]) => Object.keys(environment))
    const filledIn = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, variable]) => variable!)
    expect(unknownVariables([...named, ...filledIn])).toEqual([])
    for (const [, { environment = {} }] of services) {
      for (const value of Object.values(environment)) expect(value).toBeTypeOf('string')
    }
  })

  it('refers to volumes, networks, secrets and services that it declares', () => {
    for (const [, service] of services) {
      for (const [key, declared] of [
        ['networks', compose.networks],
        ['secrets', compose.secrets],
      ] as const) {
        for (const used of service[key] ?? []) expect(Object.keys(declared ?? {})).toContain(used)
      }
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':')
        if (source.startsWith('.')) expect(existsSync(join(folder, source))).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
      const dependencies = Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {})
      for (const dependency of dependencies) expect(Object.keys(compose.services)).toContain(dependency)
      for (const [variable, value] of Object.entries<string>(service.environment ?? {})) {
        if (variable.endsWith('_FILE'))
          expect(service.secrets.map((one: string) => `/run/secrets/${one}`)).toContain(value)
      }
    }
    expect(existsSync(join(folder, halyard.build.context, halyard.build.dockerfile))).toBe(true)
  })

  it('limits resources and logs, restarts, and pins versions', () => {
    for (const [, { deploy, image: tag, logging, restart, security_opt }] of services) {
      expect(deploy.resources.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) })
      expect(logging.options).toEqual({ 'max-size': '10m', 'max-file': '5' })
      expect(restart).toBe('unless-stopped')
      expect(security_opt).toEqual(['no-new-privileges:true'])
      expect(tag).toMatch(/:\d/)
    }
    expect(halyard.image).toBe(`halyard:${version}`)
  })

  it('runs Halyard without privileges, and publishes only the proxy or a loopback port', () => {
    expect(halyard).toMatchObject({ init: true, read_only: true, cap_drop: ['ALL'] })
    const exposed = valuesOf(image, 'EXPOSE')[0]
    for (const published of halyard.ports ?? []) expect(published).toBe(`127.0.0.1:${exposed}:${exposed}`)
    expect(compose.services.database?.ports).toBeUndefined()
    for (const volume of halyard.volumes ?? []) expect(volume.split(':')[1]).toBe(valuesOf(image, 'VOLUME')[0])
  })
})

it('the proxy of compose.postgres.yaml forwards to Halyard, which trusts it, and hides metrics', () => {
  const { services } = documents(read('compose.postgres.yaml'))[0]!
  const caddyfile = read('Caddyfile')
  expect(caddyfile).toContain(`reverse_proxy halyard:${services.halyard.expose[0]}`)
  expect(services.halyard.expose).toEqual(valuesOf(image, 'EXPOSE'))
  expect(services.halyard.environment.TRUST_PROXY).toBe('1')
  expect(caddyfile).toMatch(/path \/metrics[\s\S]*404/)
  const variables = [...caddyfile.matchAll(/\{\$(\w+)\}/g)].map(([, variable]) => variable!)
  expect(Object.keys(services.proxy.environment)).toEqual(variables)
})

describe.each([
  ['halyard.service', 'serve'],
  ['halyard-edge.service', 'edge'],
])('%s', (name, command) => {
  const directives: Record<string, readonly string[]> = {
    Unit: ['After', 'Description', 'Documentation', 'StartLimitBurst', 'StartLimitIntervalSec', 'Wants'],
    Service: [
      ...['AmbientCapabilities', 'CapabilityBoundingSet', 'DynamicUser', 'Environment', 'EnvironmentFile', 'ExecStart'],
      ...['KillMode', 'LimitNOFILE', 'LockPersonality', 'MemoryMax', 'NoNewPrivileges', 'PrivateDevices', 'PrivateTmp'],
      ...[
        'PrivateUsers',
        'ProtectClock',
        'ProtectControlGroups',
        'ProtectHome',
        'ProtectHostname',
        'ProtectKernelLogs',
      ],
      ...['ProtectKernelModules', 'ProtectKernelTunables', 'ProtectProc', 'ProtectSystem', 'RemoveIPC', 'Restart'],
      ...[
        'RestartPreventExitStatus',
        'RestartSec',
        'RestrictAddressFamilies',
        'RestrictNamespaces',
        'RestrictRealtime',
      ],
      ...[
        'RestrictSUIDSGID',
        'StateDirectory',
        'StateDirectoryMode',
        'SystemCallArchitectures',
        'SystemCallErrorNumber',
      ],
      ...['SystemCallFilter', 'TasksMax', 'TimeoutStopSec', 'Type', 'UMask', 'WorkingDirectory'],
    ],
    Install: ['WantedBy'],
  }
  const entries = unitEntries(read(name))
  const valueIn = (section: string, key: string) =>
    entries.filter(entry => entry.section === section && entry.key === key).map(({ value }) => value)

  it('has known directives only', () => {
    expect(entries.filter(({ section, key }) => !directives[section]?.includes(key))).toEqual([])
  })

  it('starts what the build makes, in a folder of its own', () => {
    const [start] = valueIn('Service', 'ExecStart')
    expect(start).toBe(`/usr/bin/env node /opt/halyard/packages/server/dist/halyard.js ${command}`)
    const [state] = valueIn('Service', 'StateDirectory')
    expect(valueIn('Service', 'WorkingDirectory')).toEqual([`/var/lib/${state}`])
  })

  it('names known settings, with absolute paths', () => {
    const environment = valueIn('Service', 'Environment').map(value => value.split('='))
    expect(unknownVariables(environment.map(([variable]) => variable!))).toEqual([])
    for (const [variable, value] of environment) if (variable !== 'NODE_ENV') expect(value).toMatch(/^\//)
    const plugins = environment.find(([variable]) => variable === 'HALYARD_PLUGIN_DIR')?.[1]
    if (plugins) expect(existsSync(join(root, plugins.replace('/opt/halyard/', '')))).toBe(true)
  })

  it('is not restarted after a configuration error, and is confined', () => {
    expect(valueIn('Service', 'RestartPreventExitStatus')).toEqual(['78'])
    for (const [key, value] of [
      ['DynamicUser', 'yes'],
      ['NoNewPrivileges', 'yes'],
      ['ProtectSystem', 'strict'],
      ['UMask', '0077'],
      ['SystemCallFilter', '@system-service'],
      ['CapabilityBoundingSet', ''],
    ] as const) {
      expect(valueIn('Service', key), key).toEqual([value])
    }
    expect(valueIn('Service', 'MemoryMax')).toHaveLength(1)
  })
})

function unitEntries(text: string): { section: string; key: string; value: string }[] {
  const entries: { section: string; key: string; value: string }[] = []
  let section = ''
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, title] = /^\[(\w+)\]$/.exec(line) ?? []
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (title) section = title
    else if (key !== undefined && value !== undefined) entries.push({ section, key, value })
    else throw new Error(`"${line}" is neither a section nor a directive.`)
  }
  return entries
}
