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
  readonly examples?: readonly unknown[]
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

const identityTags = ['Single sign-on', 'Token exchange', 'Service keys', 'Second factor', 'Audit log', 'Sign-in']

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

/** A body of the documented shape, from the examples of its fields. */
function exampleOf(schema: Schema): unknown {
  if ('const' in schema) return schema.const
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, exampleOf(each)]))
  }
  if (schema.examples?.[0] !== undefined) return schema.examples[0]
  if (schema.anyOf) return exampleOf(schema.anyOf[0] ?? {})
  if (schema.type === 'array') return [exampleOf(schema.items ?? {})]
  return schema.type === 'boolean' ? true : schema.type === 'string' ? 'text' : 1
}

/** The value with a NUL in one text, once for each text. */
function withNul(value: unknown): unknown[] {
  if (typeof value === 'string') return [`${value}\u0000`]
  if (typeof value !== 'object' || value === null) return []
  const copyWith = (name: string, changed: unknown) =>
    Array.isArray(value)
      ? value.map((item, index) => (String(index) === name ? changed : item))
      : { ...value, [name]: changed }
  return Object.entries(value).flatMap(([name, item]) => withNul(item).map(changed => copyWith(name, changed)))
}

onEachDatabase('text that cannot be stored', dialect => {
  let s: Program
  beforeAll(async () => {
    s = await startProgram(dialect)
  })
  afterAll(() => s.close())

  it('is refused in every field of a body, and in every parameter of an address', async () => {
    const organization = s.organization.split('/').at(-1)!
    const known: Record<string, string> = {
      project_id: String(s.projectId),
      parent_lookup_organization_id: organization,
    }
    const failed: string[] = []
    const expectRefusal = async (method: string, path: string, body?: unknown) => {
      const reply = await s.send(path, {
        method,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
      if (reply.status >= 500 || (body !== undefined && reply.status < 400)) {
        failed.push(`${method} ${path} ${JSON.stringify(body)}: ${reply.status}`)
      }
    }
    for (const route of allRoutes.filter(each => identityTags.includes(each.tag))) {
      const path = `${route.path.replace(/:(\w+)/g, (_all, parameter: string) => known[parameter] ?? '1')}/`
      for (const parameter of route.path.match(/:\w+/g) ?? []) {
        await expectRefusal(route.method, `${route.path.replace(parameter, 'x%00').replace(/:(\w+)/g, '1')}/`)
        const here = route.path
          .replace(parameter, 'x%00')
          .replace(/:(\w+)/g, (_all, name: string) => known[name] ?? '1')
        await expectRefusal(route.method, `${here}/`)
      }
      for (const name of Object.keys((route.query as Schema | undefined)?.properties ?? {})) {
        await expectRefusal(route.method, `${path}?${name}=x%00`)
      }
      if (!route.body) continue
      for (const body of withNul(exampleOf(route.body as Schema))) await expectRefusal(route.method, path, body)
    }
    expect(failed).toEqual([])
  }, 120_000)
})
