import { expect } from 'vitest'
import type { Client, Reply, Scenario } from './scenario.ts'

/** Sends a field beside another one, in parallel on several nodes, and checks that both are stored. */
export type ApartCase = (s: Scenario, on: OnNode) => Promise<void>
/** The owner's client, or another one, at the n-th node. */
type OnNode = (n: number, client?: Client) => Client

const rounds = 4

async function both(replies: Promise<readonly Reply[]>): Promise<void> {
  for (const reply of await replies) expect(reply.status, reply.text).toBe(200)
}

/** Two values of a field in turn, beside a name that changes each time. */
async function beside(
  on: OnNode,
  path: string,
  field: string,
  values: readonly [unknown, unknown],
  shown: (body: Record<string, never>) => unknown,
  nameField = 'name',
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const value = values[round % 2]
    const name = `${field} ${round}`
    await both(Promise.all([on(0).patch(path, { [field]: value }), on(1).patch(path, { [nameField]: name })]))
    const { body } = await on(0).get(path)
    expect([shown(body), body[nameField]]).toEqual([value, name])
  }
}

/** By route, then by field: those for which `patch-cases.ts` has no two values in advance. */
export const apartCases: Readonly<Record<string, Readonly<Record<string, ApartCase>>>> = {
  '/api/projects/:project_id/scheduled_changes/:id': {
    async cron_expression(s, on) {
      const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: `cron-${Math.random()}` })
      const plan = {
        record_id: flag.id,
        payload: { operation: 'update_status', value: false },
        is_recurring: true,
        cron_expression: '0 9 * * 1-5',
      }
      const { body: change } = await s.post(`${s.project}/scheduled_changes/`, plan)
      const path = `${s.project}/scheduled_changes/${change.id}/`
      for (let round = 0; round < rounds; round++) {
        const cron_expression = `${round} 9 * * *`
        const timezone = round % 2 === 0 ? 'Europe/Berlin' : 'Asia/Tokyo'
        await both(Promise.all([on(0).patch(path, { cron_expression }), on(1).patch(path, { timezone })]))
        expect((await on(0).get(path)).body).toMatchObject({ cron_expression, timezone })
      }
    },
  },
  '/api/users/@me': {
    async password(s, on) {
      const person = await s.join(`password-${Math.random().toString(36).slice(2)}`)
      const keyed = await person.post('/api/personal_api_keys/', { label: 'lasting', scopes: ['*'] })
      const client = s.as(keyed.body.value)
      let password = 'correct horse battery'
      for (let round = 0; round < 2; round++) {
        const next = `correct horse battery ${round}`
        await both(
          Promise.all([
            on(0, client).patch('/api/users/@me/', { password: next, current_password: password }),
            on(1, client).patch('/api/users/@me/', { first_name: `round ${round}` }),
          ]),
        )
        password = next
        const signedIn = await s.as(undefined).post('/api/login/', { email: person.email, password })
        expect([signedIn.status, signedIn.body.user?.first_name]).toEqual([200, `round ${round}`])
      }
    },
    async set_current_organization(s, on) {
      const own = s.organization.split('/').at(-1)!
      const { body: other } = await s.post('/api/organizations/', { name: 'other' })
      const idOf = (body: { organization?: { id?: string } }) => body.organization?.id
      await beside(on, '/api/users/@me/', 'set_current_organization', [other.id, own], idOf, 'first_name')
    },
    async set_current_team(s, on) {
      const { body: other } = await s.post('/api/projects/', { name: 'other' })
      const idOf = (body: { team?: { id?: number } }) => body.team?.id
      await beside(on, '/api/users/@me/', 'set_current_team', [other.id, s.projectId], idOf, 'first_name')
    },
  },
  '/api/personal_api_keys/:key_id': {
    async scoped_organizations(s, on) {
      const key = { label: 'restricted', scopes: ['feature_flag:read'] }
      const { body } = await s.post('/api/personal_api_keys/', key)
      const path = `/api/personal_api_keys/${body.id}/`
      const organization = s.organization.split('/').at(-1)!
      const values = [[organization], []] as const
      await beside(on, path, 'scoped_organizations', values, shown => shown.scoped_organizations, 'label')
    },
  },
  '/api/projects/:project_id/dashboards/:id': {
    async deleted(s, on) {
      const { body } = await s.post(`${s.project}/dashboards/`, { name: 'patched' })
      const path = `${s.project}/dashboards/${body.id}/`
      for (let round = 0; round < rounds; round++) {
        const [renamed, deleted] = await Promise.all([
          on(0).patch(path, { name: `round ${round}` }),
          on(1).patch(path, { deleted: true }),
        ])
        expect(deleted.status).toBe(200)
        const restored = await s.patch(path, { deleted: false })
        expect([restored.status, restored.body.deleted]).toEqual([200, false])
        // After the deletion the rename is refused; before it, it is kept.
        if (renamed.status === 200) expect(restored.body.name).toBe(`round ${round}`)
        else expect(renamed.status).toBe(404)
      }
    },
  },
  '/api/projects/:project_id/cohorts/:id': {
    distinct_ids: (s, on) => addMembers(s, on, 'distinct_ids'),
    person_ids: (s, on) => addMembers(s, on, 'person_ids'),
  },
  '/api/organizations/:parent_lookup_organization_id/plugins/:id': {
    async plugin_type(s, on) {
      const { body } = await s.post(`${s.organization}/plugins/`, { name: 'typed', plugin_type: 'source' })
      const path = `${s.organization}/plugins/${body.id}/`
      await beside(on, path, 'plugin_type', ['custom', 'source'], shown => shown.plugin_type, 'description')
    },
  },
  '/api/projects/:project_id/plugin_configs/:id': {
    async deleted(s, on) {
      const path = await configured(s)
      await beside(on, path, 'deleted', [true, false], shown => shown.deleted)
    },
    async allowed_hosts(s, on) {
      const path = await configured(s)
      await beside(on, path, 'allowed_hosts', [['a.example'], ['b.example']], shown => shown.allowed_hosts)
    },
    async attachments(s, on) {
      const path = await configured(s)
      for (let round = 0; round < rounds; round++) {
        const file = { file_name: `${round}.txt`, contents_base64: Buffer.from(`${round}`).toString('base64') }
        const name = `round ${round}`
        await both(Promise.all([on(0).patch(path, { attachments: { file } }), on(1).patch(path, { name })]))
        const { body } = await on(1).get(path)
        expect(body).toMatchObject({ name, config: { file: { name: file.file_name } } })
      }
    },
  },
}

async function configured(s: Scenario): Promise<string> {
  const { body: plugin } = await s.post(`${s.organization}/plugins/`, { name: 'configured' })
  const manifest = {
    name: 'configured',
    config: [{ key: 'file', type: 'attachment' }],
    allowedHosts: ['a.example', 'b.example'],
  }
  const files = { 'plugin.json': JSON.stringify(manifest), 'index.ts': 'export const onEvent = () => {}' }
  await s.patch(`${s.organization}/plugins/${plugin.id}/update_source/`, files)
  const { body } = await s.post(`${s.project}/plugin_configs/`, { plugin: plugin.id })
  return `${s.project}/plugin_configs/${body.id}/`
}

async function addMembers(s: Scenario, on: OnNode, field: 'distinct_ids' | 'person_ids'): Promise<void> {
  const ids = Array.from({ length: rounds }, (_, n) => `${field}-${n}`)
  for (const distinct_id of ids) {
    await s.post('/capture/', { token: s.projectToken, distinct_id, event: '$identify', properties: {} })
  }
  const find = async (id: string) => (await s.get(`${s.project}/persons/?distinct_id=${id}`)).body.results[0]
  for (const id of ids) await expect.poll(() => find(id)).toBeDefined()
  const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'static', is_static: true })
  const path = `${s.project}/cohorts/${cohort.id}/`
  for (const [n, id] of ids.entries()) {
    const member = field === 'person_ids' ? (await find(id)).uuid : id
    await both(Promise.all([on(0).patch(path, { [field]: [member] }), on(1).patch(path, { name: `round ${n}` })]))
    expect((await on(1).get(path)).body).toMatchObject({ name: `round ${n}`, count: n + 1 })
  }
}
