import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import type { Client } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('the inbox', dialect => {
  const s = suiteScenario(dialect)
  let ann: Client & { id: number; uuid: string }
  let flagId: number
  beforeAll(async () => {
    ann = await s.join('ann')
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'watched' })).body.id
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
  })

  const inboxOf = async (client: Client) => (await client.get(`${s.project}/inbox/`)).body
  const propose = async (name: string): Promise<string> => {
    const body = { flag_id: flagId, patch: { name }, title: name }
    return `${s.project}/change_requests/${(await s.post(`${s.project}/change_requests/`, body)).body.id}/`
  }

  it('holds what waits for the approver, and what others decided and said about own requests', async () => {
    const [first, second] = [await propose('first'), await propose('second')]
    expect(await inboxOf(ann)).toMatchObject({ waiting: 2, unread: 0, results: [] })
    expect(await inboxOf(s)).toEqual({ waiting: 0, unread: 0, seen_until: null, results: [] })
    await ann.post(`${first}comments/`, { text: 'Why?' })
    await s.post(`${first}comments/`, { text: 'Because.' })
    expect((await ann.post(`${first}approve/`, { reason: 'Fine.' })).body.status).toBe('applied')
    await ann.post(`${second}reject/`, { reason: 'Not now.' })
    expect(await inboxOf(s)).toMatchObject({
      unread: 3,
      results: [
        { kind: 'rejected', title: 'second', text: 'Not now.', by: { uuid: ann.uuid }, is_unread: true },
        { kind: 'approved', title: 'first', state: 'applied', flag_id: flagId, text: 'Fine.' },
        { kind: 'commented', text: 'Why?' },
      ],
    })
    // The reply to the own comment.
    expect(await inboxOf(ann)).toMatchObject({ waiting: 0, results: [{ kind: 'commented', text: 'Because.' }] })
  })

  it('is read until a time that never moves back, for each user alone', async () => {
    const { results } = await inboxOf(s)
    const markSeen = (until: string) => s.post(`${s.project}/inbox/seen/`, { until })
    expect((await markSeen(results[1].at)).status).toBe(204)
    expect((await inboxOf(s)).unread).toBe(1)
    await markSeen(results[0].at)
    await markSeen(results[2].at)
    expect(await inboxOf(s)).toMatchObject({ unread: 0, seen_until: results[0].at })
    expect((await inboxOf(ann)).unread).toBe(1)
    for (const until of ['yesterday', '2999-01-01T00:00:00Z']) {
      const { status, body } = await markSeen(until)
      expect([status, body.attr]).toEqual([400, 'until'])
    }
    const elsewhere = (await s.post('/api/projects/', { name: 'Elsewhere' })).body.id
    expect((await s.get(`/api/projects/${elsewhere}/inbox/`)).body.results).toEqual([])
    expect((await ann.get('/api/projects/999999/inbox/')).status).toBe(404)
  })
})
