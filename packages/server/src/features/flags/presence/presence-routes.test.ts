import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type OpenStream, openStream } from '../../../testing/event-source.ts'
import { workerBusGroup } from '../../../testing/peer-group.ts'
import { type Client, type Scenario, startScenario } from '../../../testing/scenario.ts'

// SQLite nodes are workers of one process; PostgreSQL nodes share nothing but the database.
onEachDatabase('who has a flag open', dialect => {
  let s: Scenario
  let other: Scenario
  let anna: Client & { uuid: string }
  let flag: string
  const opened: OpenStream[] = []
  beforeAll(async () => {
    const buses = dialect === 'sqlite' ? workerBusGroup(2) : []
    s = await startScenario(dialect, { ...(buses[0] && { peers: buses[0] }) })
    other = await s.startAnother({ ...(buses[1] && { peers: buses[1] }) })
    anna = await s.join('Anna')
    flag = `${s.project}/feature_flags/${(await s.post(`${s.project}/feature_flags/`, { key: 'shared' })).body.id}`
  })
  afterAll(() => s.close())
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close()
  })

  const pageOf = (name: string) => `${flag}/presence/page-of-${name}/`
  const report = (client: Client, name: string, is_editing = false) => client.put(pageOf(name), { is_editing })
  const seenBy = async (client: Client) => (await report(client, 'watcher')).body.results
  const owner = (node: Scenario) => node.as(s.key)

  it('is listed on every node, with who is editing, until the page is closed', async () => {
    expect(await report(s, 'owner')).toMatchObject({ status: 200, body: { count: 0, results: [] } })
    // A node that has just started may not listen yet, and an edit that has begun is news.
    let isEditing = false
    const elsewhere = async () => {
      isEditing = !isEditing
      await report(anna, 'anna', isEditing)
      return seenBy(owner(other))
    }
    await expect.poll(elsewhere).toMatchObject([{ user: { uuid: anna.uuid, first_name: 'Anna' } }])
    await report(anna, 'anna', true)
    await expect.poll(() => seenBy(owner(other))).toMatchObject([{ is_editing: true }])
    expect(await seenBy(owner(s))).toMatchObject([{ is_editing: true }])
    // Neither oneself in another tab, nor on another flag.
    const { body: second } = await s.post(`${s.project}/feature_flags/`, { key: 'another' })
    const path = `${s.project}/feature_flags/${second.id}/presence/another-page/`
    expect((await s.put(path, { is_editing: false })).body).toEqual({ count: 0, results: [] })
    expect((await anna.delete(pageOf('anna'))).status).toBe(204)
    expect((await anna.delete(pageOf('anna'))).status).toBe(204)
    expect(await seenBy(owner(s))).toEqual([])
    await expect.poll(() => seenBy(owner(other))).toEqual([])
  })

  it('is announced to the others, without names, and stored nowhere', async () => {
    const follow = async (node: Scenario, client: Client) => {
      const stream = await openStream(`${node.url}/api/changes/stream/`, { authorization: `Bearer ${client.key}` })
      opened.push(stream)
      await stream.next()
      return stream
    }
    const stranger = await s.stranger(`elsewhere-${dialect}`)
    const [theirs, hers, ours] = [await follow(s, stranger), await follow(s, anna), await follow(other, s)]
    const audited = async () => (await s.get(`${s.organization}/audit_log/`)).body.results[0]?.id
    const before = await audited()
    await report(anna, 'anna')
    // A renewal is no news.
    await report(anna, 'anna')
    const event = await ours.next()
    const id = flag.split('/').at(-1)
    const organization = s.organization.split('/')[3]
    expect(event).toMatchObject({ id: '', data: { topic: 'presence', project: s.projectId, id } })
    expect(event?.data).toEqual({ topic: 'presence', organization, project: s.projectId, id })
    expect(await audited()).toEqual(before)
    const stored = await s.halyard.storage.kysely.selectFrom('changes').select('topic').execute()
    expect(stored.filter(({ topic }) => topic === 'presence')).toEqual([])
    await stranger.patch('/api/users/@me/', { first_name: 'Sam' })
    expect((await theirs.next())?.data).toMatchObject({ topic: 'identity' })
    await s.patch(`${flag}/`, { name: 'Changed' })
    expect((await hers.next())?.data).toMatchObject({ topic: 'flag', id })
    await anna.delete(pageOf('anna'))
  })

  it('is for people who can see the project', async () => {
    const stranger = await s.stranger(`foreign-${dialect}`)
    expect((await report(stranger, 'stranger')).status).toBe(404)
    expect((await stranger.delete(pageOf('stranger'))).status).toBe(404)
    expect((await report(s.as(undefined), 'unknown')).status).toBe(401)
    const viewer = await s.join(`viewer-${dialect}`)
    await s.patch(`${s.organization}/members/${viewer.uuid}/`, { level: 0 })
    expect(await report(viewer, 'viewer', true)).toMatchObject({ status: 200 })
    const seen = { user: { uuid: viewer.uuid }, is_editing: true }
    expect(await seenBy(s)).toMatchObject([seen])
    // Someone who has left the organization is not named.
    await s.delete(`${s.organization}/members/${viewer.uuid}/`)
    expect((await report(s, 'watcher')).body).toEqual({ count: 0, results: [] })
    const { body: key } = await s.post(`${s.organization}/service_keys/`, {
      label: `Robot ${dialect}`,
      level: 1,
      scopes: ['feature_flag:read'],
    })
    expect((await report(s.as(key.value), 'robot')).status).toBe(403)
  })

  it('takes well-formed reports only', async () => {
    const wrong = { attr: 'is_editing' }
    expect(await s.put(pageOf('owner'), {})).toMatchObject({ status: 400, body: wrong })
    expect(await s.put(pageOf('owner'), { is_editing: 'yes' })).toMatchObject({ status: 400, body: wrong })
    expect((await s.put(`${flag}/presence/short/`, { is_editing: true })).status).toBe(404)
    expect((await s.put(`${flag}/presence/${'x'.repeat(37)}/`, { is_editing: true })).status).toBe(404)
    const unknown = `${s.project}/feature_flags/999999/presence/page-of-owner/`
    expect((await s.put(unknown, { is_editing: true })).status).toBe(404)
    expect((await s.put(unknown, {})).status).toBe(404)
  })
})
