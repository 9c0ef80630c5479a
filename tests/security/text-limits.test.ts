import { allRoutes, bytesMaxKeyword, type Route } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Program, startProgram } from '../program/start-program.ts'

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxLength?: number
  readonly maxItems?: number
  readonly [bytesMaxKeyword]?: number
}

/** Every part of a request schema that accepts text or lists without a limit. */
function unbounded(schema: Schema, path: string): string[] {
  if ('const' in schema || schema[bytesMaxKeyword] !== undefined) {
    return schema.type === 'array' && schema.maxItems === undefined ? [path] : []
  }
  if (schema.anyOf) return schema.anyOf.flatMap(option => unbounded(option, path))
  switch (schema.type) {
    case 'string':
      return schema.maxLength === undefined ? [path] : []
    case 'array':
      return [...(schema.maxItems === undefined ? [path] : []), ...unbounded(schema.items ?? {}, `${path}[]`)]
    case 'object':
      if (schema.patternProperties) return [path]
      return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => unbounded(each, `${path}.${name}`))
    case 'boolean':
    case 'integer':
    case 'number':
    case 'null':
      return []
    default:
      return [path]
  }
}

const writable = allRoutes.filter((route): route is Route & { body: NonNullable<Route['body']> } => Boolean(route.body))

describe('request schemas', () => {
  it.each(writable.map(route => [`${route.method} ${route.path}`, route] as const))(
    '%s limits every text',
    (_name, route) => {
      expect(unbounded(route.body as Schema, '')).toEqual([])
    },
  )
})

onEachDatabase('text that is too long', dialect => {
  let s: Program
  beforeAll(async () => {
    s = await startProgram(dialect)
  })
  afterAll(() => s.close())

  it('is refused with the name of the field, and nothing is stored', async () => {
    const flags = `${s.project}/feature_flags/`
    const { id } = (await s.post(flags, { key: 'short', name: 'Short' })).body
    const long = 'x'.repeat(5 * 1024 * 1024)
    const cases: [Record<string, unknown>, string][] = [
      [{ name: long }, 'name'],
      [{ name: '́'.repeat(10_001) }, 'name'],
      [{ created_at: long }, 'created_at'],
      [{ tags: [long] }, 'tags'],
      [{ tags: Array(1001).fill('x') }, 'tags'],
      [{ filters: { groups: [], note: long } }, 'filters'],
      [{ rollback_conditions: { [long]: 1 } }, 'rollback_conditions'],
      [{ evaluation_contexts: Array(1001).fill('x') }, 'evaluation_contexts'],
    ]
    for (const [body, field] of cases) {
      const reply = await s.patch(`${flags}${id}/`, body)
      expect([reply.status, reply.body.attr, reply.body.code], field).toEqual([400, field, 'max_length'])
    }
    expect((await s.get(`${flags}${id}/`)).body).toMatchObject({ name: 'Short', version: 1 })
    const longest = '𝔵'.repeat(10_000)
    expect((await s.patch(`${flags}${id}/`, { name: longest })).body.name).toBe(longest)
  })

  it('is refused wherever a body has a text field', async () => {
    const long = 'x'.repeat(3 * 1024 * 1024)
    const seeds: Record<string, string> = {
      project_id: String(s.projectId),
      parent_lookup_organization_id: s.organization.split('/').at(-1)!,
    }
    for (const route of writable) {
      const fields = (route.body as Schema).properties ?? {}
      for (const [name, field] of Object.entries(fields)) {
        if (field.type !== 'string') continue
        const path = `${route.path.replace(/:(\w+)/g, (_all, parameter: string) => seeds[parameter] ?? '1')}/`
        // Signing in and up need no key; shadow reports check theirs before the body.
        const isAnonymous = route.access.kind === 'open' && route.path !== '/api/shadow_reports'
        const client = isAnonymous ? s.as(undefined) : s
        const reply = await client.send(path, {
          method: route.method,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ [name]: long }),
        })
        expect([400, 404], `${route.method} ${route.path} ${name}: ${reply.status}`).toContain(reply.status)
      }
    }
  }, 120_000)
})
