import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Enforces the layering rules of docs/ARCHITECTURE.md by reading every import. */

const root = resolve(import.meta.dirname, '..')
const packages = ['engine', 'contract', 'server', 'web'].filter(name => existsSync(join(root, 'packages', name, 'src')))
const sourcePattern = /\.tsx?$/
const importPattern =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g

interface SourceFile {
  /** From the package's `src`, as `server/flags/flag.ts`. */
  readonly name: string
  readonly imports: readonly string[]
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
  const imports = [...text.matchAll(importPattern)].map(([, from, dynamic]) => {
    const target = (from ?? dynamic)!
    return target.startsWith('.') ? `${packageName}/${relative(source, resolve(dirname(path), target))}` : target
  })
  return { name: `${packageName}/${relative(source, path)}`, imports }
}

const offences = (files: readonly SourceFile[], isOffence: (file: SourceFile, target: string) => boolean): string[] =>
  files.flatMap(file =>
    file.imports.filter(target => isOffence(file, target)).map(target => `${file.name} → ${target}`),
  )

const isFeature = (name: string): boolean => /^server\/(features|evaluation|api|edge)\//.test(name)

/** A larger folder should be split. */
const productionFilesMax = 15

describe('imports', () => {
  it('the engine imports only itself', () => {
    const engine = production.filter(file => file.name.startsWith('engine/'))
    expect(offences(engine, (_, target) => !target.startsWith('engine/'))).toEqual([])
    expect(JSON.parse(readFileSync(join(root, 'packages/engine/package.json'), 'utf8')).dependencies ?? {}).toEqual({})
  })

  it('the contract imports only typebox', () => {
    const contract = production.filter(file => file.name.startsWith('contract/'))
    expect(offences(contract, (_, target) => !/^(contract\/|typebox)/.test(target))).toEqual([])
  })

  it('the web app never imports the server', () => {
    const web = production.filter(file => file.name.startsWith('web/'))
    expect(offences(web, (_, target) => /^(@halyard\/server|server\/|node:)/.test(target))).toEqual([])
  })

  it('only *.sql.ts, storage/ and the composition root import Kysely', () => {
    const others = production.filter(file => !/\.sql\.ts$|^server\/(storage|cli)\//.test(file.name))
    expect(offences(others, (_, target) => target === 'kysely')).toEqual([])
  })

  it('only *-routes.ts, http/, observability/ and the composition root import Fastify', () => {
    const others = production.filter(
      file => !/-routes\.ts$|^server\/(http|observability)\/|^server\/(app|edge-main|main)\.ts$/.test(file.name),
    )
    expect(offences(others, (_, target) => target === 'fastify')).toEqual([])
  })

  it('technical folders never import a feature', () => {
    const technical = production.filter(file =>
      /^server\/(storage|http|sandbox|concurrency|overload|outgoing|jobs)\//.test(file.name),
    )
    expect(offences(technical, (_, target) => isFeature(target))).toEqual([])
  })

  it('only the CLI imports the composition root', () => {
    const others = production.filter(file => !/^server\/(cli\/|main\.ts$)/.test(file.name))
    expect(offences(others, (_, target) => /^server\/(app|edge-main|main)\.ts$/.test(target))).toEqual([])
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
    for (const { name } of production) {
      const folder = dirname(name)
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
    }
    const large = [...sizes].filter(
      ([folder, count]) => count > productionFilesMax && !/^(contract|engine|web)(\/|$)/.test(folder),
    )
    expect(large.map(([folder, count]) => `${folder}: ${count}`)).toEqual([])
  })

  it('there are no import cycles', () => {
    expect(cycles(production)).toEqual([])
  })
})

/** Import cycles, including type imports: files in a cycle can only be understood together. */
function cycles(files: readonly SourceFile[]): string[] {
  const byName = new Map(files.map(file => [file.name, file]))
  const state = new Map<string, 'open' | 'done'>()
  const found: string[] = []
  const visit = (name: string, path: readonly string[]) => {
    if (state.get(name) === 'done') return
    if (state.get(name) === 'open') {
      found.push([...path.slice(path.indexOf(name)), name].join(' → '))
      return
    }
    state.set(name, 'open')
    for (const target of byName.get(name)?.imports ?? []) {
      if (byName.has(target)) visit(target, [...path, name])
    }
    state.set(name, 'done')
  }
  for (const file of files) visit(file.name, [])
  return found
}
