import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { settings } from '../packages/server/src/config.ts'
import { root } from './faults/server-process.ts'

const read = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8')
const recipe = read('Dockerfile')
const compose = read('compose.yaml')
const manifests = read('kubernetes/halyard.yaml')
const unit = read('halyard.service')
const known = new Set(Object.values(settings).map(({ variable }) => variable as string))
/** Settings of others, and the names that compose itself fills in. */
const foreign = /^(NODE_ENV|POSTGRES_\w+|HALYARD_DATABASE_PASSWORD)$/

it('names only settings that exist', () => {
  const named = [
    ...recipe.matchAll(/\b([A-Z][A-Z_]+)=/g),
    ...compose.matchAll(/^ {6}([A-Z][A-Z_]+):/gm),
    ...compose.matchAll(/\$\{([A-Z_]+)/g),
    ...manifests.matchAll(/- name: ([A-Z][A-Z_]+)$/gm),
    ...manifests.matchAll(/--from-literal=([A-Z_]+)=/g),
    ...unit.matchAll(/^Environment=([A-Z_]+)=/gm),
  ].map(match => match[1]!)
  expect(named.length).toBeGreaterThan(12)
  expect(named.filter(name => !known.has(name) && !foreign.test(name))).toEqual([])
})

it('copies and starts what is there', () => {
  for (const [, path] of recipe.matchAll(/\/halyard\/([\w./-]+)/g)) {
    if (path !== 'node_modules') expect(existsSync(join(root, path!)), path).toBe(true)
  }
  expect(recipe).toContain('node scripts/build.mjs')
  for (const text of [recipe, unit]) expect(text).toContain('packages/server/dist/halyard.js')
  expect(recipe.match(/^FROM /gm)).toHaveLength(2)
})

it('runs without rights, on a file system it cannot write, and is asked whether it is well', () => {
  expect(recipe.lastIndexOf('USER node')).toBeGreaterThan(recipe.lastIndexOf('RUN '))
  expect(recipe).toMatch(/HEALTHCHECK[\s\S]*\/_livez/)
  for (const word of ['read_only: true', 'no-new-privileges:true', 'cap_drop']) expect(compose).toContain(word)
  for (const word of ['runAsNonRoot: true', 'readOnlyRootFilesystem: true', 'allowPrivilegeEscalation: false']) {
    expect(manifests).toContain(word)
  }
  for (const path of ['/_livez', '/_readyz']) expect(manifests).toContain(`path: ${path}`)
  for (const word of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'DynamicUser=yes']) expect(unit).toContain(word)
})

it('is YAML that is indented by twos, without tabs', () => {
  for (const text of [compose, manifests]) {
    expect(text).not.toContain('\t')
    for (const line of text.split('\n')) {
      expect((/^ */.exec(line)?.[0].length ?? 0) % 2, line).toBe(0)
      if (line.trim() !== '' && !line.trim().startsWith('#')) expect(line, line).toMatch(/^\s*(- |---$|[\w./-]+:|- \w)/)
    }
  }
})
