import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Enforces the layering rules of docs/ARCHITECTURE.md by reading every import. */

const root = resolve(import.meta.dirname, '..')
const packages = readdirSync(join(root, 'packages')).filter(name => existsSync(join(root, 'packages', name, 'src')))
const sourcePattern = /\.tsx?$/
const importPattern =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g

interface SourceFile {
  /** From the package's `src`, as `server/flags/flag.ts`. */
  readonly name: string
  readonly imports: readonly string[]
  /** What `import()` loads. In a bundle, a CommonJS package would have only a default export there. */
  readonly loadedOnDemand: readonly string[]
}

const files = packages.flatMap(name => filesBelow(join(root, 'packages', name, 'src')).map(path => read(name, path)))
const production = files.filter(file => !/\.test\.tsx?$|^server\/testing\//.test(file.name))

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return sourcePattern.test(entry.name) ? [path] : []
  })
}

function read(packageName: string, path: string): SourceFile {
  const source = join(root, 'packages', packageName, 'src')
  const text = readFileSync(path, 'utf8')
  const nameOf = (target: string) =>
    target.startsWith('.') ? `${packageName}/${relative(source, resolve(dirname(path), target))}` : target
  const found = [...text.matchAll(importPattern)]
  return {
    name: `${packageName}/${relative(source, path)}`,
    imports: found.map(([, from, dynamic]) => nameOf((from ?? dynamic)!)),
    loadedOnDemand: found.flatMap(([, , dynamic]) => (dynamic ? [nameOf(dynamic)] : [])),
  }
}

const offences = (files: readonly SourceFile[], isOffence: (file: SourceFile, target: string) => boolean): string[] =>
  files.flatMap(file =>
    file.imports.filter(target => isOffence(file, target)).map(target => `${file.name} → ${target}`),
  )

const textOf = ({ name }: SourceFile) => readFileSync(join(root, 'packages', name.replace('/', '/src/')), 'utf8')
const filesWith = (pattern: RegExp) =>
  production
    .filter(file => pattern.test(textOf(file)))
    .map(({ name }) => name)
    .sort()

/** A larger folder should be split, unless its files are numbered. */
const productionFilesMax = 20

const technicalFolders = ['storage', 'http', 'sandbox', 'concurrency', 'overload', 'outgoing', 'jobs', 'observability']

/** Files that put the folders together: what they import says nothing about the folders that import them. */
const wiring = /^server\/(?:stores(?:\.sql)?|main|app|api-routes|edge-main|serving)\.ts$/

/** `features/flags`, `http`, or a file in `src`. */
const folderOf = (name: string): string => /^server\/(features\/[^/]+|[^/]+)/.exec(name)![1]!

/** By folder: the folders that its files import. */
const folders = new Map<string, Set<string>>()
for (const { name, imports } of production) {
  if (!name.startsWith('server/') || wiring.test(name)) continue
  const targets = folders.get(folderOf(name)) ?? new Set()
  folders.set(folderOf(name), targets)
  for (const target of imports) {
    const isOther = target.startsWith('server/') && !wiring.test(target) && folderOf(target) !== folderOf(name)
    if (isOther) targets.add(folderOf(target))
  }
}

function foldersReachedFrom(start: string): string[] {
  const reached = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const target of folders.get(folder) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  }
  return [...reached].sort()
}

describe('imports', () => {
  it('the engine imports only itself', () => {
    const engine = production.filter(file => file.name.startsWith('engine/'))
    expect(offences(engine, (_, target) => !target.startsWith('engine/'))).toEqual([])
  })

  it('the contract imports only typebox, and lists of names from the engine and the import model', () => {
    const contract = production.filter(file => file.name.startsWith('contract/'))
    expect(
      offences(
        contract,
        (_, target) => !/^(contract\/|typebox|@halyard\/engine$|@halyard\/migrate\/model$)/.test(target),
      ),
    ).toEqual([])
  })

  it('migrate imports only itself and the engine, and does no input or output', () => {
    const migrate = production.filter(file => file.name.startsWith('migrate/'))
    const isAllowed = (target: string) => /^(migrate\/|@halyard\/engine$|node:(crypto|util)$)/.test(target)
    expect(offences(migrate, (_, target) => !isAllowed(target))).toEqual([])
  })

  it('published packages import no server code, and the client bundles all that it needs', () => {
    const published = production.filter(file =>
      /^(client|openfeature-\w+|react|test-kit|ofrep-conformance)\//.test(file.name),
    )
    expect(offences(published, (_, target) => /^(@halyard\/(contract|web)|halyard$|server\/)/.test(target))).toEqual([])
    for (const name of ['engine', 'client']) {
      const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
      expect(dependencies, name).toEqual({})
    }
  })

  it('the web app never imports the server', () => {
    const web = production.filter(file => file.name.startsWith('web/'))
    expect(offences(web, (_, target) => /^(@halyard\/server|server\/|node:)/.test(target))).toEqual([])
  })

  it('only *.sql.ts, storage/ and the composition root import Kysely', () => {
    const others = production.filter(
      file => !/\.sql\.ts$|^server\/(storage|cli)\/|^server\/stores\.ts$/.test(file.name),
    )
    expect(offences(others, (_, target) => target === 'kysely')).toEqual([])
  })

  it('only *-routes.ts, http/, observability/ and the composition root import Fastify', () => {
    const others = production.filter(
      file =>
        !/-routes\.ts$|^server\/(http|observability)\/|^server\/(app|edge-main|main|api\/serving-http|dev\/dev-main)\.ts$/.test(
          file.name,
        ),
    )
    expect(offences(others, (_, target) => target === 'fastify')).toEqual([])
  })

  it('technical folders never reach a feature, directly or through others', () => {
    for (const name of technicalFolders) {
      const reached = foldersReachedFrom(name).filter(other => /^(?:features\/|evaluation$|api$|edge$)/.test(other))
      expect(reached, name).toEqual([])
    }
  })

  it('domain/ imports the engine, the contract and root files only', () => {
    const domain = production.filter(file => file.name.startsWith('server/domain/'))
    const isAllowed = (target: string) =>
      /^server\/(?:domain\/|[a-z-]+\.ts$)|^@halyard\/(?:engine|contract)$|^node:|^rrule$/.test(target)
    expect(offences(domain, (_, target) => !isAllowed(target))).toEqual([])
  })

  it("the server's folders form no cycle", () => {
    expect(cyclesOf(folders)).toEqual([])
  })

  it('only the CLI imports the composition root', () => {
    const others = production.filter(file => !/^server\/(cli\/|main\.ts$)/.test(file.name))
    expect(offences(others, (_, target) => /^server\/(app|edge-main|main|dev\/dev-main)\.ts$/.test(target))).toEqual([])
    const rest = production.filter(file => file.name !== 'server/app.ts')
    expect(offences(rest, (_, target) => target === 'server/api-routes.ts')).toEqual([])
  })

  it('a database of persons is opened only where it is checked whose it is', () => {
    const openers = production.filter(({ imports }) => imports.includes('server/storage/persons-storage.ts'))
    expect(openers.map(({ name }) => name).sort()).toEqual([
      'server/cli/data/migrate-persons.ts',
      'server/cli/data/migrate.ts',
      'server/cli/doctor/persons-findings.ts',
      'server/main.ts',
    ])
  })

  it('production code imports no test code', () => {
    expect(offences(production, (_, target) => /^server\/testing\/|\.test\.ts$/.test(target))).toEqual([])
  })

  it('there are no utility files and no barrels', () => {
    const names = production.map(file => file.name)
    expect(
      names.filter(name => /(^|[/-])(utils?|helpers?|common|shared|manager|factory|base)([./-]|$)/.test(name)),
    ).toEqual([])
    expect(names.filter(name => /^[^/]+\/.+\/index\.ts$/.test(name))).toEqual([])
  })

  it('no folder exceeds the maximum number of files', () => {
    const sizes = new Map<string, number>()
    for (const { name } of production.filter(file => !/\/\d{4}-[^/]+$/.test(file.name))) {
      const folder = dirname(name)
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
    }
    const large = [...sizes].filter(([, count]) => count > productionFilesMax)
    expect(large.map(([folder, count]) => `${folder}: ${count}`)).toEqual([])
  })

  it('the server loads on demand only a command, and the bundler of worker threads when the sources run directly', () => {
    const server = production.filter(({ name }) => name.startsWith('server/'))
    const isAllowed = ({ name }: SourceFile, target: string) =>
      /^server\/cli\/(program|commands\/[a-z-]+|remote\/api)\.ts$/.test(name) ||
      (/\/[a-z-]*worker-code\.ts$/.test(name) && target === 'esbuild')
    const late = server.flatMap(file => file.loadedOnDemand.filter(target => !isAllowed(file, target)))
    expect(late).toEqual([])
  })

  it('a store of the server has no interface beside its one implementation', () => {
    // Usage and event counts have two: the database and ClickHouse.
    const withTwo = ['server/features/events/usage/event-counts.ts', 'server/features/events/usage/usage.ts']
    expect(filesWith(/export interface \w+Store\b/).filter(name => name.startsWith('server/'))).toEqual(withTwo)
  })

  it('files form no cycle', () => {
    expect(cyclesOf(new Map(production.map(({ name, imports }) => [name, imports])))).toEqual([])
  })
})

describe('the gate', () => {
  const control = 'server/features/change-control'

  // The compiler refuses to save a flag or an existing cohort without an `Authorization`, which cannot be written down.
  it('makes every authorization in one place', () => {
    expect(filesWith(/\bas Authorization\b/)).toEqual([`${control}/authorize.ts`])
  })

  it('stands before members of existing cohorts, and before what it has authorized', () => {
    expect(filesWith(/\bawait commit(?:Flags?|Cohort|Schedule)\(/)).toEqual([`${control}/gate.ts`])
    expect(filesWith(/\bcohortMembers\.(?:add|remove)\(/)).toEqual([
      // Finishes what was authorized when it was queued.
      'server/features/cohorts/members/cohort-work.ts',
      // Called by `commitCohort`, and for new cohorts, which change no flag until a flag names them.
      'server/features/cohorts/members/members.ts',
    ])
  })

  it('lets changes of dashboards pass, which change no value', () => {
    expect(filesWith(/\bflags\.saveDashboards\(/)).toEqual([
      'server/features/dashboards/ensure-usage-dashboard.ts',
      'server/features/dashboards/unlink-dashboard.ts',
    ])
  })

  it('is opened without a request only for a rollback', () => {
    expect(filesWith(/\brollbackPermit\b|kind: 'system'/)).toEqual([
      'server/domain/permit.ts',
      'server/features/rollback/roll-back.ts',
    ])
  })

  it('has one place that makes each kind of permit', () => {
    // Requests, and scheduled changes: these were approved when they were planned.
    expect(filesWith(/kind: 'direct',/)).toEqual(['server/domain/permit.ts', `${control}/write-request.ts`])
    expect(filesWith(/kind: 'approved',/)).toEqual(['server/domain/permit.ts', `${control}/gated-writes.ts`])
    expect(filesWith(/\bscheduledPermit\(/)).toEqual([`${control}/schedules/run-schedules.ts`])
  })
})

/** Cycles, including those of type imports: what is in one can only be understood together. */
function cyclesOf(targetsOf: ReadonlyMap<string, Iterable<string>>): string[] {
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (name: string, path: readonly string[]) => {
    if (state.get(name) === 'done') return
    if (state.get(name) === 'open') {
      cycles.push([...path.slice(path.indexOf(name)), name].join(' → '))
      return
    }
    state.set(name, 'open')
    for (const target of targetsOf.get(name) ?? []) visit(target, [...path, name])
    state.set(name, 'done')
  }
  for (const name of targetsOf.keys()) visit(name, [])
  return cycles
}
