import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import type { Client } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('comments on a change request', dialect => {
  const s = suiteScenario(dialect)
  let ann: Client & { id: number; email: string }
  let comments: string
  let flagId: number
  beforeAll(async () => {
    ann = await s.join('ann')
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'discussed' })).body.id
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const request = await s.post(`${s.project}/change_requests/`, { flag_id: flagId, patch: { name: 'Later' } })
    comments = `${s.project}/change_requests/${request.body.id}/comments/`
  })

  it('are listed oldest first, with replies to the comment that began the thread', async () => {
    const first = (await s.post(comments, { text: ' Why now? ' })).body
    expect(first).toMatchObject({ text: 'Why now?', parent_id: null, edited_at: null })
    const reply = (await ann.post(comments, { text: 'Because.', parent_id: first.id })).body
    const nested = (await s.post(comments, { text: 'Thanks.', parent_id: reply.id })).body
    expect([reply.parent_id, nested.parent_id]).toEqual([first.id, first.id])
    const { body } = await s.get(comments)
    expect(body.results.map(({ text }: { text: string }) => text)).toEqual(['Why now?', 'Because.', 'Thanks.'])
    const { body: history } = await s.get(`${s.project}/feature_flags/${flagId}/activity/`)
    expect(history.results[0]).toMatchObject({
      activity: 'change_commented',
      detail: { trigger: { reason: 'Thanks.' } },
    })
  })

  it('are edited by their author alone, and deleted with their replies by the author or an admin', async () => {
    const own = (await ann.post(comments, { text: 'Mine' })).body
    await s.post(comments, { text: 'Reply', parent_id: own.id })
    const path = `${comments}${own.id}/`
    expect((await s.patch(path, { text: 'Not yours' })).status).toBe(403)
    expect((await ann.patch(path, { text: 'Edited' })).body).toMatchObject({
      text: 'Edited',
      edited_at: expect.any(String),
    })
    const other = (await s.post(comments, { text: 'Of the owner' })).body
    expect((await ann.delete(`${comments}${other.id}/`)).status).toBe(403)
    const before = (await s.get(comments)).body.count
    expect((await s.delete(path)).status).toBe(204)
    expect((await s.get(comments)).body.count).toBe(before - 2)
    expect((await s.get(path)).status).toBe(404)
  })

  it('are refused when they are blank, too long, or reply to a comment of another request', async () => {
    for (const body of [
      { text: '  ' },
      { text: '' },
      { text: 'x'.repeat(10_001) },
      {},
      { text: 'x', parent_id: 999_999 },
    ]) {
      const { status, body: problem } = await s.post(comments, body)
      expect([status, problem.attr]).toEqual([400, 'parent_id' in body ? 'parent_id' : 'text'])
    }
    const elsewhere = (await s.post('/api/projects/', { name: 'Elsewhere' })).body.id
    const foreign = comments.replace(s.project, `/api/projects/${elsewhere}`)
    expect((await s.get(foreign)).status).toBe(404)
    expect((await s.post(foreign, { text: 'x' })).status).toBe(404)
  })
})

onEachDatabase('an approval', dialect => {
  const s = suiteScenario(dialect)

  it('is announced as the last one needed only when it is', async () => {
    const [ann, bob] = [await s.join('ann'), await s.join('bob')]
    const flag = (await s.post(`${s.project}/feature_flags/`, { key: 'both' })).body
    const approver_config = { users: [ann.id, bob.id], quorum: 2 }
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config })
    const { body } = await s.post(`${s.project}/change_requests/`, { flag_id: flag.id, patch: { name: 'x' } })
    const path = `${s.project}/change_requests/${body.id}/`
    const isLast = async (client: Client) => (await client.get(path)).body.completes_approval
    expect([await isLast(ann), await isLast(bob), await isLast(s)]).toEqual([false, false, false])
    await ann.post(`${path}approve/`)
    expect([await isLast(ann), await isLast(bob)]).toEqual([false, true])
    expect((await bob.post(`${path}approve/`)).body.status).toBe('applied')
  })
})
