import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestDatabase, onEachDatabase } from '../packages/server/src/testing/databases.ts'
import { root } from './faults/server-process.ts'
import { freePort } from './free-port.ts'
import { knownCommands, unknownVariables } from './known-names.ts'

const folder = join(root, 'deploy')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const readRoot = (name: string): string => readFileSync(join(root, name), 'utf8')
const { version } = JSON.parse(readRoot('package.json')) as { version: string }

// biome-ignore lint/suspicious/noExplicitAny: a compose file, whose shape Docker checks.
type Compose = any

/** Workflows run Helm, kubeconform, Docker and systemd on these files; here they are compared with the program. */
const readAll = (path: string): string =>
  readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(yaml|tpl)$/.test(name))
    .map(name => read(join(path, name)))
    .join('\n')
const manifests = { Kubernetes: readAll('kubernetes'), Helm: readAll('helm/halyard') }

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

it('every file names the version of package.json', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /Dockerfile$|\.yaml$/.test(name),
  )
  const versions = names.flatMap(name =>
    [...read(name).matchAll(/\bhalyard:(\d+\.[\w.-]*)|^ARG VERSION=(\S+)/gm)].map(
      ([, tag, argument]) => tag ?? argument,
    ),
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
      const requested = Object.values(manifests)
        .join()
        .matchAll(/^\s+path: "?(\/[^\s"]+)/gm)
      const paths = [...new Set([...requested].map(([, path]) => path!))]
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

it.each(Object.entries(manifests))('the files for %s name known settings and pinned images only', (_name, text) => {
  const variables = [...text.matchAll(/^\s+- name: ([A-Z][A-Z_]+)$|--from-literal=([A-Z_]+)=/gm)]
  expect(variables.length).toBeGreaterThan(3)
  expect(unknownVariables(variables.map(([, name, key]) => (name ?? key)!))).toEqual([])
  expect(text).not.toMatch(/:latest\b/)
})

it('the Helm chart has the version of the server, and values that are settings', () => {
  const chart = parse(read('helm/halyard/Chart.yaml'))
  expect([chart.version, chart.appVersion]).toEqual([version, version])
  const values = readdirSync(join(folder, 'helm/halyard/ci')).map(name => parse(read(`helm/halyard/ci/${name}`)))
  const names = values.flatMap(({ config = {}, secret, edge }) =>
    [config, secret?.values, edge?.config, edge?.secret?.values].flatMap(each => Object.keys(each ?? {})),
  )
  expect(names.length).toBeGreaterThan(1)
  expect(unknownVariables(names)).toEqual([])
})

/** As Docker Compose combines files. */
function merge(base: Compose, addition: Compose): Compose {
  if (Array.isArray(base) && Array.isArray(addition)) return [...base, ...addition]
  if (typeof base !== 'object' || typeof addition !== 'object' || base === null || addition === null) return addition
  const names = [...new Set([...Object.keys(base), ...Object.keys(addition)])]
  const merged = (name: string) =>
    name in base && name in addition ? merge(base[name], addition[name]) : (addition[name] ?? base[name])
  return Object.fromEntries(names.map(name => [name, merged(name)]))
}

const parseCompose = (name: string): Compose => parse(read(name), { strict: true, uniqueKeys: true, merge: true })
const scaled = ['compose.postgres.yaml', 'compose.clickhouse.yaml', 'compose.scale.yaml']

const withPersons = ['compose.postgres.yaml', 'compose.persons.yaml']

describe.each([['compose.yaml'], ['compose.postgres.yaml'], withPersons, scaled])('%s', (...files) => {
  const text = files.map(read).join('\n')
  const compose: Compose = files.map(parseCompose).reduce(merge)
  const services: [string, Compose][] = Object.entries(compose.services)
  const halyard = compose.services.halyard

  it('names known settings only', () => {
    const named = services.flatMap(([, { environment = {} }]) => Object.keys(environment))
    const filledIn = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, variable]) => variable!)
    expect(unknownVariables([...named, ...filledIn])).toEqual([])
    for (const [, { environment = {} }] of services) {
      for (const value of Object.values(environment)) expect(value).toBeTypeOf('string')
    }
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
    for (const name of ['database', 'persons-database']) expect(compose.services[name]?.ports).toBeUndefined()
    for (const volume of halyard.volumes ?? []) expect(volume.split(':')[1]).toBe(valuesOf(image, 'VOLUME')[0])
  })
})

it('the proxy of compose.postgres.yaml forwards to Halyard, which trusts it, and hides metrics', () => {
  const { services } = parse(read('compose.postgres.yaml'))
  const caddyfile = read('Caddyfile')
  expect(caddyfile).toContain(`reverse_proxy halyard:${services.halyard.expose[0]}`)
  expect(services.halyard.expose).toEqual(valuesOf(image, 'EXPOSE'))
  expect(services.halyard.environment.TRUST_PROXY).toBe('1')
  expect(caddyfile).toMatch(/path \/metrics[\s\S]*404/)
  const variables = [...caddyfile.matchAll(/\{\$(\w+)\}/g)].map(([, variable]) => variable!)
  expect(Object.keys(services.proxy.environment)).toEqual(variables)
})

it('compose.scale.yaml runs two nodes and three edges with folders of their own, and sends clients to the edges', () => {
  const { services, secrets, volumes } = scaled.map(parseCompose).reduce(merge)
  expect(services.halyard.deploy.replicas).toBe(2)
  expect(services.halyard.environment.EVENTS_URL_FILE).toBe('/run/secrets/events_url')
  const edges = ['edge-1', 'edge-2', 'edge-3']
  expect(Object.keys(services).toSorted()).toEqual([...edges, 'clickhouse', 'database', 'halyard', 'proxy'].toSorted())
  for (const name of edges) {
    expect(services[name]).toMatchObject({ image: `halyard:${version}`, command: ['edge'], cap_drop: ['ALL'] })
    expect(services[name].volumes).toEqual([`${name}:${valuesOf(image, 'VOLUME')[0]}`])
    expect(services[name].environment.HALYARD_EDGE_DATA).toMatch(`${valuesOf(image, 'VOLUME')[0]}/`)
    expect(services[name].environment.HALYARD_UPSTREAM).toBe(`http://halyard:${services.halyard.expose[0]}`)
    expect(Object.keys(volumes)).toContain(name)
  }
  for (const { secrets: used = [] } of Object.values<Compose>(services)) {
    for (const secret of used) expect(Object.keys(secrets)).toContain(secret)
  }
  const caddyfile = read('Caddyfile.scale')
  expect(caddyfile).toContain(`reverse_proxy ${edges.map(name => `${name}:8000`).join(' ')}`)
  expect(caddyfile).toMatch(/dynamic a halyard 8000/)
  expect(caddyfile).toMatch(/path \/metrics[\s\S]*404/)
  for (const path of [
    '/flags',
    '/ofrep/v1/*',
    '/batch',
    '/e',
    '/i/v0/e',
    '/capture',
    '/track',
    '/engage',
    '/array/*',
  ]) {
    expect(caddyfile.split(/\s+/)).toContain(path)
  }
})

it('compose.persons.yaml gives persons a database, a volume and secrets of their own', () => {
  const { services, secrets, volumes } = withPersons.map(parseCompose).reduce(merge)
  expect(services.halyard.environment.PERSONS_DATABASE_URL_FILE).toBe('/run/secrets/persons_database_url')
  expect(Object.keys(services.halyard.depends_on)).toEqual(['database', 'persons-database'])
  for (const { secrets: used = [] } of Object.values<Compose>(services)) {
    for (const secret of used) expect(Object.keys(secrets)).toContain(secret)
  }
  const database = services['persons-database']
  expect(database.image).toBe(services.database.image)
  expect(Object.keys(volumes)).toContain(database.volumes[0].split(':')[0])
  expect(database.networks).toEqual(services.database.networks)
  // The address in the commands above the file names this service and what it creates.
  const { POSTGRES_USER: user, POSTGRES_DB: name } = database.environment
  expect(read('compose.persons.yaml')).toContain(`postgres://${user}:%s@persons-database:5432/${name}`)
})

describe.each([
  ['halyard.service', 'serve'],
  ['halyard-edge.service', 'edge'],
])('%s', (name, command) => {
  const text = read(name)
  const valuesIn = (key: string) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!)

  it('starts what the build makes, in a folder of its own', () => {
    const [start] = valuesIn('ExecStart')
    expect(start).toBe(`/usr/bin/env node /opt/halyard/packages/server/dist/halyard.js ${command}`)
    const [state] = valuesIn('StateDirectory')
    expect(valuesIn('WorkingDirectory')).toEqual([`/var/lib/${state}`])
  })

  it('names known settings, with absolute paths', () => {
    const environment = valuesIn('Environment').map(value => value.split('='))
    expect(unknownVariables(environment.map(([variable]) => variable!))).toEqual([])
    for (const [variable, value] of environment) if (variable !== 'NODE_ENV') expect(value).toMatch(/^\//)
    const plugins = environment.find(([variable]) => variable === 'HALYARD_PLUGIN_DIR')?.[1]
    if (plugins) expect(existsSync(join(root, plugins.replace('/opt/halyard/', '')))).toBe(true)
  })

  it('is not restarted after a configuration error, and is confined', () => {
    expect(valuesIn('RestartPreventExitStatus')).toEqual(['78'])
    for (const [key, value] of [
      ['DynamicUser', 'yes'],
      ['NoNewPrivileges', 'yes'],
      ['ProtectSystem', 'strict'],
      ['UMask', '0077'],
      ['SystemCallFilter', '@system-service'],
      ['CapabilityBoundingSet', ''],
    ] as const) {
      expect(valuesIn(key), key).toEqual([value])
    }
    expect(valuesIn('MemoryMax')).toHaveLength(1)
  })
})
