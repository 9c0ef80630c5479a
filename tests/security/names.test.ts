import { allRoutes } from '@halyard/contract'
import Type, { type TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { bodyChecker } from '../../packages/server/src/http/routes/check-body.ts'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** A name is one line, so that it cannot pretend to be another line of an email, a log or a page. */

type AnySchema = TSchema & { properties?: Record<string, AnySchema>; anyOf?: AnySchema[]; maxLength?: number }

const nameFields = ['name', 'label', 'title', 'first_name']
const hostile = ['Shop\r\nOpen http://evil.example', 'Shop\u2028now', 'Shop\u202eexe.', 'Shop\tnow', 'Shop\u0085now']

const named = allRoutes.flatMap(({ method, path, body }) =>
  Object.entries((body as AnySchema | undefined)?.properties ?? {})
    .filter(([field]) => nameFields.includes(field))
    .map(([field, schema]) => ({ route: `${method} ${path}`, field, schema })),
)
/** The `name` of a flag is its description. */
const isDescription = ({ maxLength, anyOf = [] }: AnySchema): boolean =>
  Math.max(maxLength ?? 0, ...anyOf.map(option => option.maxLength ?? 0)) > 400

describe('a field with a name', () => {
  const names = named.filter(({ schema }) => !isDescription(schema))

  it.each(names.map(({ route, field, schema }) => [route, field, schema] as const))(
    'of %s refuses control characters in `%s`',
    (_route, field, schema) => {
      const check = bodyChecker(Type.Object({ [field]: schema }))
      expect(() => check({ [field]: 'Shop' })).not.toThrow()
      for (const text of hostile) expect(() => check({ [field]: text }), JSON.stringify(text)).toThrow('one line')
    },
  )

  it('exists in many routes, and only flags have descriptions called `name`', () => {
    expect(names.length).toBeGreaterThan(20)
    const descriptions = named.filter(({ schema }) => isDescription(schema)).map(({ route }) => route)
    expect(descriptions.filter(route => !/feature_flags|flag_overrides|manifest/.test(route))).toEqual([])
  })
})

onEachDatabase('names', dialect => {
  const s = suiteScenario(dialect)

  it('with line breaks are refused with the field, and nothing changes', async () => {
    const plugins = `${s.organization}/plugins/`
    const plugin = `${plugins}${(await s.post(plugins, { name: 'Greeter' })).body.id}/`
    for (const name of hostile) {
      for (const reply of [
        await s.post('/api/organizations/', { name }),
        await s.patch(`${s.organization}/`, { name }),
        await s.post('/api/projects/', { name }),
        await s.patch(`${s.project}/`, { name }),
        await s.post(`${s.organization}/roles/`, { name }),
      ]) {
        expect([reply.status, reply.body.attr, reply.body.detail]).toEqual([
          400,
          'name',
          'Use one line without control characters.',
        ])
      }
      // Bodies without a JSON schema.
      const cohorts = `${s.project}/cohorts/`
      const form = new FormData()
      form.set('name', name)
      form.set('csv', 'distinct_id\nanna\n')
      const csv = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'distinct_id\nanna\n' }
      for (const reply of [
        await s.send(cohorts, { method: 'POST', body: form }),
        await s.send(`${cohorts}?name=${encodeURIComponent(name)}`, csv),
      ]) {
        expect([reply.status, reply.body.attr]).toEqual([400, 'name'])
      }
      const manifest = { 'plugin.json': JSON.stringify({ name }), 'index.ts': '' }
      expect(await s.patch(`${plugin}update_source/`, manifest)).toMatchObject({ status: 400 })
      expect(await s.patch('/api/users/@me/', { first_name: name })).toMatchObject({ status: 400 })
      expect(await s.post('/api/personal_api_keys/', { label: name })).toMatchObject({ status: 400 })
    }
    expect((await s.get('/api/organizations/')).body.count).toBe(1)
    expect((await s.get(`${s.project}/cohorts/`)).body.count).toBe(0)
    expect((await s.get(plugin)).body.name).toBe('Greeter')
  })

  it('in any script are accepted, and so are descriptions of flags with several lines', async () => {
    for (const name of ['Café Zürich', '日本語', 'متجر', '👩‍🚀 Crew']) {
      expect((await s.post(`${s.organization}/roles/`, { name })).status).toBe(201)
    }
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'lines', name: 'One\nTwo' })).status).toBe(201)
  })
})
