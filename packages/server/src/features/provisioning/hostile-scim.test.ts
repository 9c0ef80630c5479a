import {
  allRoutes,
  type Route,
  scimErrorSchema,
  scimGroupSchema,
  scimPatchSchema,
  scimUserSchema,
} from '@halyard/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, type Reply, type Scenario, startTwoNodes, type TwoNodes } from '../../testing/scenario.ts'

const scimType = { 'content-type': 'application/scim+json' }

onEachDatabase('SCIM on two nodes against hostile callers', dialect => {
  let nodes: TwoNodes
  let s: Scenario
  let scim: Client
  let root: string
  let userId: string
  let groupId: string
  beforeAll(async () => {
    nodes = await startTwoNodes(dialect)
    s = nodes.one
    scim = nodes.two.as((await s.post(`${s.organization}/scim_tokens/`, { label: 'Okta' })).body.value)
    root = `/scim/v2/${s.organization.split('/').at(-1)}`
    userId = (await scim.post(`${root}/Users`, user(), scimType)).body.id
    const group = { schemas: [scimGroupSchema], displayName: 'Victims', members: [{ value: userId }] }
    groupId = (await scim.post(`${root}/Groups`, group, scimType)).body.id
    expect([typeof userId, typeof groupId]).toEqual(['string', 'string'])
  }, 60_000)
  afterAll(() => nodes.close())

  const user = (more: object = {}) => ({ schemas: [scimUserSchema], userName: 'ada@acme.example', ...more })
  const contents = async () => {
    const { kysely } = s.halyard.storage
    return [
      await kysely.selectFrom('users').selectAll().orderBy('id').execute(),
      await kysely.selectFrom('memberships').selectAll().orderBy('id').execute(),
      await kysely.selectFrom('scim_users').selectAll().orderBy('user_id').execute(),
      await kysely.selectFrom('scim_groups').selectAll().execute(),
      await kysely.selectFrom('role_memberships').selectAll().execute(),
      await kysely.selectFrom('roles').selectAll().execute(),
    ]
  }
  /** Client errors in SCIM's shape, after which everything is as before. */
  const expectRefused = async (what: string, calls: () => Promise<Reply>, statuses = [400]) => {
    const before = await contents()
    const reply = await calls()
    expect(statuses, `${what}: ${reply.status} ${reply.text}`).toContain(reply.status)
    expect(reply.body, what).toMatchObject({ schemas: [scimErrorSchema], status: String(reply.status) })
    expect(typeof reply.body.detail).toBe('string')
    expect(await contents(), what).toEqual(before)
    return reply
  }

  it('refuses filters that are not supported, too long or too deep', async () => {
    const filters = [
      'userName co "a"',
      'userName eq 5',
      'userName eq "a" or userName eq "b"',
      'not (userName eq "a")',
      'emails[type eq "work"]',
      'userName pr',
      'title eq "x"',
      '__proto__ eq "x"',
      'userName eq "a',
      'userName eq',
      '',
      ')',
      `userName eq "${'a'.repeat(10_240)}"`,
      `${'('.repeat(400)}userName eq "a"${')'.repeat(400)}`,
      '('.repeat(5000),
      Array.from({ length: 30 }, () => 'id eq "a"').join(' and '),
    ]
    for (const filter of filters) {
      for (const path of ['Users', 'Groups']) {
        const url = `${root}/${path}?filter=${encodeURIComponent(filter)}`
        const reply = await scim.get(url)
        const isTooLarge = reply.status === 414 || reply.status === 431
        if (isTooLarge) continue
        // Parentheses alone change nothing about a filter.
        if (filter.startsWith('((') && filter.includes('userName') && path === 'Users' && reply.status === 200) continue
        expect([reply.status, reply.body.scimType], `${path} ${filter.slice(0, 60)}`).toEqual([400, 'invalidFilter'])
        expect(reply.body.detail).toContain('`filter`')
      }
    }
    const nul = await scim.get(`${root}/Users?filter=userName%20eq%20%22%00%22`)
    expect([nul.status, nul.body.schemas]).toEqual([400, [scimErrorSchema]])
    for (const query of ['count=x', 'startIndex=1.5', 'count=99999999999999999999']) {
      await expectRefused(query, () => scim.get(`${root}/Users?${query}`))
    }
  })

  it('refuses patches that reach prototypes, and paths and values that do not fit', async () => {
    const operations: readonly unknown[] = [
      { op: 'replace', path: '__proto__.polluted', value: 'yes' },
      { op: 'add', path: 'constructor.prototype.polluted', value: 'yes' },
      { op: 'add', path: 'name.__proto__.polluted', value: 'yes' },
      { op: 'add', path: 'emails[__proto__ eq "x"].polluted', value: 'yes' },
      JSON.parse('{"op":"replace","value":{"__proto__":{"polluted":"yes"}}}'),
      JSON.parse('{"op":"replace","value":{"__proto__.polluted":"yes"}}'),
      { op: 'replace', value: { 'constructor.prototype.polluted': 'yes' } },
      { op: 'replace', path: 'name', value: JSON.parse('{"__proto__":{"polluted":"yes"}}') },
      { op: 'destroy', path: 'active', value: false },
      { op: 5, path: 'active', value: false },
      { path: 'active', value: false },
      { op: 'replace', path: 5, value: false },
      { op: 'replace', value: 'text' },
      { op: 'replace', value: null },
      { op: 'remove' },
      { op: 'add', path: 'active' },
      { op: 'replace', path: 'active', value: 'perhaps' },
      { op: 'replace', path: 'active', value: { deep: true } },
      { op: 'replace', path: 'userName', value: '' },
      { op: 'replace', path: 'userName', value: 5 },
      { op: 'remove', path: 'userName' },
      { op: 'replace', path: 'userName.first', value: 'x' },
      { op: 'replace', path: 'displayName', value: 'a\u0000b' },
      { op: 'replace', path: 'displayName', value: 'two\nlines' },
      { op: 'replace', path: 'displayName', value: 'x'.repeat(300) },
      { op: 'replace', path: 'title', value: 'x'.repeat(5000) },
      { op: 'replace', path: 'title', value: '\ud800' },
      { op: 'replace', path: 'emails', value: 'text' },
      { op: 'replace', path: 'emails', value: [{ value: 'no address' }] },
      { op: 'replace', path: 'emails', value: [{ value: 'x@service-key.invalid' }] },
      { op: 'replace', path: 'name', value: 'text' },
      { op: 'replace', path: 'roles', value: [{ value: 'owner' }] },
      { op: 'replace', path: 'roles', value: [{ value: 'toString' }] },
      { op: 'replace', path: `x${'[a eq "b"]'.repeat(200)}`, value: 'x' },
      { op: 'replace', path: 'emails[type eq "work', value: 'x' },
      null,
      'text',
      [],
    ]
    for (const operation of operations) {
      const body = { schemas: [scimPatchSchema], Operations: [operation] }
      const what = JSON.stringify(operation)?.slice(0, 90) ?? 'undefined'
      await expectRefused(what, () => scim.patch(`${root}/Users/${userId}`, body, scimType))
    }
    const groups: readonly unknown[] = [
      { op: 'replace', path: '__proto__', value: 'yes' },
      { op: 'add', path: 'members', value: [{ value: 5 }] },
      { op: 'add', path: 'members', value: [{ value: 'unknown' }] },
      { op: 'remove', path: 'members[display eq "x"]' },
      { op: 'remove', path: 'members[value eq' },
      { op: 'add', path: 'members[value eq "x"]', value: 'x' },
      { op: 'remove', path: 'displayName' },
      { op: 'replace', path: 'displayName', value: ' ' },
      { op: 'replace', path: 'title', value: 'x' },
      { op: 'replace', value: { displayName: 'a\u0000' } },
    ]
    for (const operation of groups) {
      const body = { schemas: [scimPatchSchema], Operations: [operation] }
      await expectRefused(JSON.stringify(operation), () => scim.patch(`${root}/Groups/${groupId}`, body, scimType))
    }
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
  })

  it('refuses bodies that are not of SCIM, too large or too deep, and names the attribute', async () => {
    const send = (method: string, path: string, body: string, type = 'application/scim+json') =>
      scim.send(`${root}/${path}`, { method, headers: { 'content-type': type }, body })
    const deep = `{"schemas":["${scimUserSchema}"],"userName":"deep@acme.example","x":${'['.repeat(5000)}${']'.repeat(5000)}}`
    const bodies: readonly [string, string, string, number[]][] = [
      ['no JSON', 'POST', '{', [400]],
      ['a list', 'POST', '[]', [400]],
      ['null', 'POST', 'null', [400]],
      ['too deep', 'POST', deep, [400]],
      ['no schemas', 'POST', '{"userName":"x@acme.example"}', [400]],
      ['other schema', 'POST', `{"schemas":["${scimGroupSchema}"],"userName":"x@acme.example"}`, [400]],
      ['no user name', 'POST', `{"schemas":["${scimUserSchema}"]}`, [400]],
      ['no address', 'POST', `{"schemas":["${scimUserSchema}"],"userName":"ada"}`, [400]],
      ['prototype', 'POST', `{"schemas":["${scimUserSchema}"],"userName":"x@acme.example","__proto__":{"a":1}}`, [400]],
      ['NUL', 'POST', JSON.stringify(user({ userName: 'x@acme.example', name: { givenName: 'a\0' } })), [400]],
      ['NUL in a name', 'POST', JSON.stringify(user({ userName: 'x@acme.example', 'a\0b': 1 })), [400]],
      [
        'too large',
        'POST',
        JSON.stringify(user({ userName: 'x@acme.example', notes: Array(100).fill('x'.repeat(900)) })),
        [400, 413],
      ],
      ['taken', 'POST', JSON.stringify(user()), [409]],
    ]
    for (const [what, method, body, statuses] of bodies) {
      await expectRefused(what, () => send(method, 'Users', body), statuses)
    }
    await expectRefused('content type', () => send('POST', 'Users', JSON.stringify(user()), 'text/plain'), [415])
    await expectRefused('unknown id', () => send('PUT', `Users/${groupId}`, JSON.stringify(user())), [404])
    await expectRefused('NUL in the path', () => scim.get(`${root}/Users/%00`), [400, 404])
    await expectRefused('no such URL', () => scim.get(`${root}/Bulk`), [404])
    await expectRefused('no such method', () => send('DELETE', 'Users', ''), [405])
    const many = Array.from({ length: 1001 }, () => ({ op: 'add', path: 'title', value: 'x' }))
    await expectRefused('too many operations', () =>
      scim.patch(`${root}/Users/${userId}`, { schemas: [scimPatchSchema], Operations: many }, scimType),
    )
  })

  const filled = (path: string): string =>
    path
      .replace(':organization_id', root.split('/').at(-1)!)
      .replace(':project_id', String(s.projectId))
      .replace(':parent_lookup_organization_id', s.organization.split('/').at(-1)!)
      .replace(/:\w+/g, '1')
  const call = (client: Client, { method, path }: Route) =>
    nodes.inTurn(client).send(filled(path), {
      method,
      ...(method !== 'GET' && { headers: scimType, body: '{}' }),
    })

  it('gives a SCIM token access to nothing else', async () => {
    const guarded = allRoutes.filter(({ access }) => access.kind === 'key')
    expect(guarded.length).toBeGreaterThan(200)
    const statuses = new Map<string, number>()
    for (const route of guarded) statuses.set(route.operationId, (await call(scim, route)).status)
    expect([...statuses].filter(([, status]) => status !== 401)).toEqual([])
  }, 60_000)

  it('accepts no other credential, and no token of another organization, an expired or a revoked one', async () => {
    const stranger = await s.stranger('mallory')
    const { token: foreign, revoked, expired } = await otherTokens(stranger)
    const service = await s.post(`${s.organization}/service_keys/`, { label: 'CI', scopes: ['*'], level: 8 })
    const secret = await s.post(`${s.project}/secret_keys/`, { label: 'x' })
    const clients = {
      owner: s,
      stranger,
      nothing: s.as(undefined),
      service: s.as(service.body.value),
      secret: s.as(secret.body.value),
      project: s.as(s.projectToken),
      foreign: s.as(foreign),
      revoked: s.as(revoked),
      expired: s.as(expired),
    }
    const routes = allRoutes.filter(({ access }) => access.kind === 'scim')
    expect(routes).toHaveLength(17)
    for (const [name, client] of Object.entries(clients)) {
      for (const route of routes) {
        const reply = await call(client, route)
        expect([reply.status, reply.body.schemas], `${name} ${route.operationId}`).toEqual([401, [scimErrorSchema]])
      }
    }
  }, 60_000)

  async function otherTokens(stranger: Client & { organization: string }) {
    const tokens = `${s.organization}/scim_tokens/`
    const token = (await stranger.post(`${stranger.organization}/scim_tokens/`, { label: 'x' })).body.value
    const { id, value: revoked } = (await s.post(tokens, { label: 'revoked' })).body
    expect((await s.delete(`${tokens}${id}/`)).status).toBe(204)
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const old = (await s.post(tokens, { label: 'expired', expires_at: soon })).body
    const { kysely } = s.halyard.storage
    await kysely
      .updateTable('scim_tokens')
      .set({ expires_at: '2020-01-01T00:00:00.000Z' })
      .where('id', '=', old.id)
      .execute()
    return { token, revoked, expired: old.value }
  }

  it('lets the owner alone create and revoke tokens, and shows their values once', async () => {
    const tokens = `${s.organization}/scim_tokens/`
    const admin = await s.join('admin', 8)
    const member = await s.join('member')
    expect((await admin.post(tokens, { label: 'x' })).status).toBe(403)
    expect((await member.get(tokens)).status).toBe(403)
    const made = await s.post(tokens, { label: 'Once' })
    const { body: list } = await admin.get(tokens)
    expect(list[0]).toMatchObject({ label: 'Once', last_used_at: null, expires_at: null })
    expect(JSON.stringify(list)).not.toContain(made.body.value)
    expect((await admin.delete(`${tokens}${made.body.id}/`)).status).toBe(403)
    await s.as(made.body.value).get(`${root}/Users`)
    await expect.poll(async () => (await s.get(tokens)).body[0].last_used_at, { timeout: 10_000 }).not.toBeNull()
    const stranger = await s.stranger('eve')
    expect((await stranger.delete(`${stranger.organization}/scim_tokens/${made.body.id}/`)).status).toBe(404)
    const past = await s.post(tokens, { label: 'x', expires_at: '2020-01-01T00:00:00Z' })
    expect([past.status, past.body.attr]).toEqual([400, 'expires_at'])
  })

  it('ties provisioned accounts to the creator of the token, so that they do not count as a second pair of eyes', async () => {
    const { kysely } = s.halyard.storage
    const account = await kysely.selectFrom('users').select('id').where('uuid', '=', userId).executeTakeFirstOrThrow()
    const owner = (await s.get('/api/users/@me/')).body
    const ties = await kysely.selectFrom('account_ties').select(['account_id', 'by_id', 'kind']).execute()
    const byToken = ties.find(({ account_id }) => account_id === account.id)
    expect(byToken?.kind).toBe('provisioned')
    expect(ties).toContainEqual({ account_id: byToken?.by_id, by_id: owner.id, kind: 'scim_token' })
  })
})
