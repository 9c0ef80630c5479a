import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Rules of packages/web/src beyond those of architecture.test.ts. */

const source = resolve(import.meta.dirname, '../packages/web/src')
const importPattern = /(?:from\s+|import\s+)['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g

const queryPattern = /queryKey: \[([^\]]*)\],\s*queryFn/g

const modules = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  name => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name),
)
const folderOf = (name: string): string => name.split('/')[0] as string
const importsOf = (name: string): string[] =>
  [...readFileSync(join(source, name), 'utf8').matchAll(importPattern)].map(([, from, dynamic]) =>
    relative(source, resolve(dirname(join(source, name)), (from ?? dynamic) as string)),
  )

/** A component with the attribute `required`. */
const requiredPattern = /<(\w+)\b(?:=>|[^<>])*?\brequired\b/g
const formPattern = /<form\b/

describe('forms', () => {
  it('use the fields that show an error in place instead of the browser’s bubble', () => {
    const found = modules.flatMap(name => {
      const text = readFileSync(join(source, name), 'utf8')
      const fields = [...text.matchAll(requiredPattern)].map(([, field]) => field as string)
      return formPattern.test(text)
        ? fields.filter(field => !/^[A-Z]\w*Field$/.test(field)).map(f => `${name}: ${f}`)
        : []
    })
    expect(found).toEqual([])
  })
})

const intervalPattern = /refetchInterval:\s*(.*)/g
const constantPattern = /\bconst (\w+Milliseconds|\w+Ms) = ([\d_]+)/g
const pollMillisecondsMin = 30_000

describe('polling', () => {
  it('never happens more often than every 30 seconds', () => {
    const texts = new Map(modules.map(name => [name, readFileSync(join(source, name), 'utf8')]))
    const milliseconds = new Map<string, number>()
    for (const text of texts.values()) {
      for (const [, name, value] of text.matchAll(constantPattern)) {
        const known = milliseconds.get(name as string) ?? Number.POSITIVE_INFINITY
        milliseconds.set(name as string, Math.min(known, Number(value?.replaceAll('_', ''))))
      }
    }
    const isRare = (interval: string): boolean => {
      const names = interval.match(/\b\w*(?:Milliseconds|Ms)\b/g) ?? []
      const areLong = names.every(name => (milliseconds.get(name) ?? 0) >= pollMillisecondsMin)
      return areLong && (names.length > 0 || /^false\b/.test(interval)) && !/[\d_]{3,}/.test(interval)
    }
    const intervals = [...texts].flatMap(([name, text]) =>
      [...text.matchAll(intervalPattern)].map(([, interval]) => ({ name, interval: interval as string })),
    )
    expect(intervals.length).toBeGreaterThan(5)
    expect(intervals.filter(({ interval }) => !isRare(interval))).toEqual([])
  })
})

describe('the web app’s layout', () => {
  it('has no import cycle between top-level folders', () => {
    const edges = new Map<string, Set<string>>()
    for (const name of modules.filter(each => each.includes('/'))) {
      for (const target of importsOf(name)) {
        if (folderOf(target) === folderOf(name)) continue
        edges.set(folderOf(name), (edges.get(folderOf(name)) ?? new Set()).add(folderOf(target)))
      }
    }
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      [...(edges.get(from) ?? [])].some(next => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))))
    expect([...edges.keys()].filter(folder => reaches(folder, folder))).toEqual([])
  })

  it('defines each query once, so that a cache key has one shape of data', () => {
    const places = new Map<string, string[]>()
    for (const name of modules) {
      for (const [, parts] of readFileSync(join(source, name), 'utf8').matchAll(queryPattern)) {
        const elements = (parts as string).split(',').flatMap(part => part.trim() || [])
        if (!elements[0]?.startsWith("'")) continue
        const key = elements.map(element => (element.startsWith("'") ? element : '*')).join(' ')
        places.set(key, [...(places.get(key) ?? []), name])
      }
    }
    expect(places.size).toBeGreaterThan(30)
    expect([...places].filter(([, names]) => names.length > 1)).toEqual([])
  })

  it('keeps components and messages free of features', () => {
    const offences = modules
      .filter(name => /^(ui|i18n|api|live|services)\//.test(name))
      .flatMap(name => importsOf(name).map(target => `${name} → ${target}`))
      .filter(edge => !/ → (ui|i18n|api|live|services)\//.test(edge))
    expect(offences).toEqual([])
  })
})
