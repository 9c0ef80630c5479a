import { afterEach, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type OpenStream, openStream } from '../../testing/event-source.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('the stream of changes', dialect => {
  const s = suiteScenario(dialect)
  const opened: OpenStream[] = []
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close()
  })

  const follow = async (key = s.key, after?: string) => {
    const resuming = after === undefined ? {} : { 'last-event-id': after }
    const stream = await openStream(`${s.url}/api/changes/stream/`, { authorization: `Bearer ${key}`, ...resuming })
    opened.push(stream)
    return stream
  }
  const followOpen = async (key = s.key) => {
    const stream = await follow(key)
    expect(await stream.next()).toMatchObject({ event: 'open' })
    return stream
  }
  const organizationId = () => s.organization.split('/')[3]

  it('sends the kind, project and id of what has changed', async () => {
    const stream = await followOpen()
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: `reported-${dialect}` })
    const place = { organization: organizationId(), project: s.projectId }
    expect((await stream.next())?.data).toEqual({ topic: 'flag', ...place, id: String(flag.id) })
    const { body: change } = await s.post(`${s.project}/scheduled_changes/`, {
      record_id: flag.id,
      payload: { operation: 'update_status', value: false },
      scheduled_at: '2099-01-01T00:00:00Z',
    })
    expect((await stream.next())?.data).toEqual({ topic: 'schedule', ...place, id: String(flag.id) })
    await s.delete(`${s.project}/scheduled_changes/${change.id}/`)
    expect((await stream.next())?.data).toMatchObject({ topic: 'schedule' })
    await s.patch(`${s.project}/`, { name: 'Another name' })
    expect((await stream.next())?.data).toMatchObject({ topic: 'project', project: s.projectId })
  })

  it('resumes after the position that a client knows, or says that changes may be missing', async () => {
    const stream = await follow()
    const opened = await stream.next()
    const created = []
    for (const name of ['one', 'two']) {
      created.push((await s.post(`${s.project}/feature_flags/`, { key: `resumed-${name}-${dialect}` })).body)
    }
    const [first, second] = [await stream.next(), await stream.next()]
    const fromStart = await follow(s.key, opened!.id)
    expect((await fromStart.next())?.event).toBe('resume')
    expect([await fromStart.next(), await fromStart.next()]).toEqual([first, second])
    const fromFirst = await follow(s.key, first!.id)
    expect((await fromFirst.next())?.event).toBe('resume')
    expect((await fromFirst.next())?.data).toMatchObject({ topic: 'flag', id: String(created[1].id) })
    expect((await (await follow(s.key, 'unknown')).next())?.event).toBe('open')
    // Others' changes are not repeated to users who cannot see them.
    const stranger = await s.stranger(`resuming-${dialect}`)
    const theirs = await follow(stranger.key, opened!.id)
    expect((await theirs.next())?.event).toBe('resume')
    await stranger.patch('/api/users/@me/', { first_name: 'Sam' })
    for (let event = await theirs.next(); event?.data.organization !== null; event = await theirs.next()) {
      expect(event?.data.project).not.toBe(s.projectId)
    }
  })

  it('reports roles, invitations and members', async () => {
    const stream = await followOpen()
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: `Team ${dialect}` })
    expect((await stream.next())?.data).toMatchObject({ topic: 'access', organization: organizationId() })
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: `granted-${dialect}` })
    expect((await stream.next())?.data).toMatchObject({ topic: 'flag' })
    await s.post(`${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
    expect((await stream.next())?.data).toMatchObject({ topic: 'access', project: s.projectId, id: String(flag.id) })
    await s.post(`${s.organization}/invites/`, { target_email: `new-${dialect}@example.com` })
    expect((await stream.next())?.data).toMatchObject({ topic: 'access' })
    await s.join(`joined-${dialect}`)
    expect((await stream.next())?.data).toMatchObject({ topic: 'access' })
    expect((await stream.next())?.data).toMatchObject({ topic: 'identity', organization: organizationId() })
  })

  it('reports nothing to users who cannot see it', async () => {
    const stranger = await s.stranger(`elsewhere-${dialect}`)
    const stream = await followOpen(stranger.key)
    await s.post(`${s.project}/feature_flags/`, { key: `unseen-${dialect}` })
    await stranger.patch('/api/users/@me/', { first_name: 'Sam' })
    expect((await stream.next())?.data).toMatchObject({ topic: 'identity', organization: null })
  })

  it('ends with the key that it was opened with', async () => {
    const { body: key } = await s.post('/api/personal_api_keys/', { label: 'short-lived', scopes: ['project:read'] })
    const stream = await followOpen(key.value)
    await s.delete(`/api/personal_api_keys/${key.id}/`)
    expect((await stream.next())?.data).toMatchObject({ topic: 'identity' })
    expect(await stream.next()).toBeUndefined()
    expect((await follow(key.value)).status).toBe(401)
  })

  it('are limited per user, so that others can open streams', async () => {
    const many = await s.join(`many-${dialect}`)
    for (let count = 0; count < 50; count++) await followOpen(many.key)
    expect((await follow(many.key)).status).toBe(429)
    await followOpen()
  })
})
