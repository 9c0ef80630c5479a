import { allRoutes } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apartCases } from '../testing/patch-apart-cases.ts'
import { type PatchCase, patchActions, patchCases } from '../testing/patch-cases.ts'
import { type Client, type Scenario, startScenario } from '../testing/scenario.ts'

const patchRoutes = allRoutes.filter(route => route.method === 'PATCH')
const roundsOfAll = 6

it('tries every PATCH route of the contract and every field that it writes', () => {
  const tried = [...patchCases.map(({ path }) => path), ...Object.keys(patchActions)]
  expect(tried.toSorted()).toEqual(patchRoutes.map(({ path }) => path as string).toSorted())
  for (const { path, values, apart = {}, without = {} } of patchCases) {
    expect(Object.keys(apartCases[path] ?? {}).toSorted(), path).toEqual(Object.keys(apart).toSorted())
    const { body } = patchRoutes.find(route => route.path === path)!
    const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {})
    const known = [values, apart, without].flatMap(Object.keys)
    expect(known.toSorted(), path).toEqual(fields.toSorted())
  }
})

describe.each(['one node on sqlite', 'one node on postgres', 'two nodes on postgres'] as const)('%s', setting => {
  let s: Scenario
  let nodes: Scenario[]
  beforeAll(async () => {
    s = await startScenario(setting === 'one node on sqlite' ? 'sqlite' : 'postgres')
    nodes = [s]
    if (setting === 'two nodes on postgres') {
      nodes.push(await startScenario('postgres', { databaseUrl: s.databaseUrl }))
    }
  })
  afterAll(async () => {
    for (const node of nodes.toReversed()) await node.close()
  })

  /** The n-th request goes to the n-th node. */
  const on = (n: number, { key }: Client): Client => nodes[n % nodes.length]!.as(key)

  it.each(patchCases.map(patchCase => [patchCase.path, patchCase] as const))(
    'keeps every field that was acknowledged by PATCH %s',
    async (_path, patchCase) => {
      const { path, client = s } = await patchCase.setUp(s)
      const fields = Object.keys(patchCase.values)
      const tied = patchCase.tied ?? []
      const areTied = (a: string, b: string) => tied.some(pair => pair.includes(a) && pair.includes(b))
      const values = alternating(patchCase.values)
      const independent = fields.filter(field => !tied.some(([, second]) => second === field))
      for (let round = 0; round < roundsOfAll; round++)
        await send(patchCase, path, client, rotated(independent, round), values)
      let pairs = 0
      for (const [n, first] of fields.entries()) {
        for (const second of fields.slice(n + 1)) {
          if (areTied(first, second)) continue
          // Either one is sent first in half of the pairs.
          await send(patchCase, path, client, pairs++ % 2 ? [first, second] : [second, first], values)
        }
      }
    },
  )

  async function send(
    patchCase: PatchCase,
    path: string,
    client: Client,
    fields: readonly string[],
    next: (field: string) => unknown,
  ) {
    const values = new Map(fields.map(field => [field, next(field)]))
    const replies = await Promise.all(
      fields.map((field, n) =>
        on(n, client).patch(path, { ...patchCase.sentAlong?.[field], [field]: values.get(field) }),
      ),
    )
    for (const reply of replies) expect(reply.status, reply.text).toBe(200)
    const isReadable = patchRoutes.some(({ path: of }) => of === patchCase.path && hasGet(of))
    if (!isReadable) return
    const { body } = await s.as(client.key).get(path)
    for (const field of fields) {
      const shown = patchCase.shown?.[field] ? patchCase.shown[field](body) : body[field]
      if (shown !== undefined)
        expect(shown, `${field}, sent in parallel with ${fields.join(', ')}`).toEqual(values.get(field))
    }
  }

  it('stores the token that a reset has issued, beside renames', async () => {
    const { body: project } = await s.post('/api/projects/', { name: 'patched' })
    const path = `/api/projects/${project.id}/`
    for (let round = 0; round < 10; round++) {
      const [renamed, reset] = await Promise.all([
        on(0, s).patch(path, { name: `round ${round}` }),
        on(1, s).patch(`${path}reset_token/`),
      ])
      expect([renamed.status, reset.status]).toEqual([200, 200])
      const { body } = await s.get(path)
      expect(body).toMatchObject({ name: `round ${round}`, api_token: reset.body.api_token })
    }
  })

  const apart = Object.entries(apartCases).flatMap(([path, fields]) =>
    Object.entries(fields).map(([field, run]) => [field, path, run] as const),
  )
  it.each(apart)('keeps %s and what is sent beside it by PATCH %s', async (_field, _path, run) => {
    await run(s, (n, client = s) => on(n, client))
  })

  it('never leaves a key unrestricted when its two restrictions are lifted in parallel', async () => {
    const organizationId = s.organization.split('/').at(-1)
    const restricted = { scopes: ['*'], scoped_teams: [s.projectId], scoped_organizations: [organizationId] }
    for (let round = 0; round < 6; round++) {
      const { body: own } = await s.post('/api/personal_api_keys/', { label: 'own', ...restricted })
      const client = s.as(own.value)
      const path = `/api/personal_api_keys/${own.id}/`
      const replies = await Promise.all([
        on(0, client).patch(path, { scoped_teams: [] }),
        on(1, client).patch(path, { scoped_organizations: [] }),
      ])
      expect(replies.filter(reply => reply.status === 200).length).toBeLessThanOrEqual(1)
      const { body } = await s.get(path)
      expect(body.scoped_teams.length + body.scoped_organizations.length).toBeGreaterThan(0)
      await s.delete(path)
    }
  })

  it('adds and removes all members of a static cohort that parallel requests name', async () => {
    const ids = Array.from({ length: 6 }, (_, n) => `member-${n}`)
    for (const distinct_id of ids) {
      await s.post('/capture/', { token: s.projectToken, distinct_id, event: '$identify', properties: {} })
    }
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'static', is_static: true })
    const path = `${s.project}/cohorts/${cohort.id}/`
    const count = async () => (await s.get(`${path}persons/`)).body.results.length
    await expect.poll(async () => (await s.get(`${s.project}/persons/`)).body.results.length).toBeGreaterThanOrEqual(6)
    await Promise.all(
      ids.map((id, n) => on(n, s).patch(`${path}add_persons_to_static_cohort/`, { distinct_ids: [id] })),
    )
    expect(await count()).toBe(6)
    await Promise.all(
      ids.slice(0, 5).map((id, n) => on(n, s).patch(`${path}remove_person_from_static_cohort/`, { distinct_id: id })),
    )
    expect(await count()).toBe(1)
    expect((await s.get(path)).body.count).toBe(1)
  })

  it('keeps the places and the names of configurations', async () => {
    const configs = await Promise.all(
      [1, 2].map(async n => {
        const { body: plugin } = await s.post(`${s.organization}/plugins/`, { name: `placed ${n}` })
        return (await s.post(`${s.project}/plugin_configs/`, { plugin: plugin.id })).body
      }),
    )
    for (let round = 0; round < 4; round++) {
      const orders = Object.fromEntries(configs.map(({ plugin }, n) => [plugin, 10 * round + n]))
      const replies = await Promise.all([
        on(0, s).patch(`${s.project}/plugin_configs/rearrange/`, { orders }),
        on(1, s).patch(`${s.project}/plugin_configs/${configs[0].id}/`, { name: `round ${round}` }),
      ])
      expect(replies.map(reply => reply.status)).toEqual([200, 200])
      const { body } = await s.get(`${s.project}/plugin_configs/${configs[0].id}/`)
      expect(body).toMatchObject({ name: `round ${round}`, order: 10 * round })
    }
  })

  it('keeps all files of a plugin that parallel requests write', async () => {
    const { body: plugin } = await s.post(`${s.organization}/plugins/`, { name: 'written' })
    const path = `${s.organization}/plugins/${plugin.id}/`
    for (let round = 0; round < 3; round++) {
      const files = { 'first.ts': `export const first = ${round}`, 'second.ts': `export const second = ${round}` }
      const replies = await Promise.all([
        ...Object.entries(files).map(([name, text], n) => on(n, s).patch(`${path}update_source/`, { [name]: text })),
        on(1, s).patch(path, { description: `round ${round}` }),
      ])
      for (const reply of replies) expect(reply.status, reply.text).toBe(200)
      const { body } = await s.get(`${path}source/`)
      expect(body).toMatchObject({ description: `round ${round}`, source: files })
    }
  })
})

/** The other one of a field's two values each time, so that a lost update shows. */
function alternating(values: PatchCase['values']): (field: string) => unknown {
  const used = new Map<string, number>()
  return field => {
    const index = used.get(field) === 0 ? 1 : 0
    used.set(field, index)
    return values[field]![index]
  }
}

const hasGet = (path: string) => allRoutes.some(route => route.method === 'GET' && route.path === path)

const rotated = <T>(items: readonly T[], by: number): T[] => {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
