import { beforeAll, describe, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Client, Scenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const rollout = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })
const byEmail = (email: string, percentage = 100) => ({
  properties: [{ key: 'email', type: 'person', value: email, operator: 'exact' }],
  rollout_percentage: percentage,
})

onEachDatabase('approvals', dialect => {
  const s = suiteScenario(dialect)
  let ann: Awaited<ReturnType<Scenario['join']>>
  let ben: Awaited<ReturnType<Scenario['join']>>
  beforeAll(async () => {
    ann = await s.join('ann')
    ben = await s.join('ben')
  })

  /** A project of its own with one policy. */
  async function gated(policy: object = {}) {
    const { body: project } = await s.post('/api/projects/', { name: 'gated' })
    const path = `/api/projects/${project.id}`
    const flag = async (body: object) => (await s.post(`${path}/feature_flags/`, body)).body
    const gate = async (more: object = {}) => {
      const body = { action_key: '*', approver_config: { users: [ann.id, ben.id] }, ...policy, ...more }
      const reply = await s.post(`${path}/approval_policies/`, body)
      expect(reply.status, reply.text).toBe(201)
      return `${path}/approval_policies/${reply.body.id}/`
    }
    const read = async (id: number) => (await s.get(`${path}/feature_flags/${id}/`)).body
    const act = (client: Client, id: number, action: string, body: object = {}) =>
      client.post(`${path}/change_requests/${id}/${action}/`, body)
    const request = async (id: number) => (await s.get(`${path}/change_requests/${id}/`)).body
    const propose = async (id: number, patch: object, client: Client = s): Promise<number> => {
      const reply = await client.patch(`${path}/feature_flags/${id}/`, patch)
      expect(reply.status, reply.text).toBe(409)
      return reply.body.change_request.id
    }
    return { id: project.id as number, path, flag, gate, read, act, request, propose }
  }

  it('answers a change that needs approval with 409 and the change request, and applies it when it is approved', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'reviewed', filters: rollout(10) })
    await p.gate()
    const reply = await s.patch(`${p.path}/feature_flags/${flag.id}/`, { filters: rollout(50) })
    expect(reply.status).toBe(409)
    expect(reply.body).toMatchObject({
      type: 'approval_required',
      code: 'approval_required',
      attr: null,
      resource_type: 'feature_flag',
      resource_id: String(flag.id),
      change_request: { state: 'pending' },
    })
    expect(await p.read(flag.id)).toMatchObject({ filters: rollout(10), version: 1 })
    const { id, url } = reply.body.change_request
    const again = await s.patch(`${p.path}/feature_flags/${flag.id}/`, { filters: rollout(50) })
    expect(again.body.change_request.id).toBe(id)

    const seen = (await ann.get(url)).body
    expect(seen).toMatchObject({
      can_approve: true,
      is_requester: false,
      user_decision: null,
      policies: [{ quorum: 1, approved: 0, is_satisfied: false }],
      changes: [{ field: 'filters', before: rollout(10), after: rollout(50) }],
    })
    expect((await s.get(url)).body).toMatchObject({ can_approve: false, is_requester: true, can_cancel: true })
    expect((await ann.get(`${p.path}/change_requests/?mine=1`)).body.count).toBe(1)
    const approved = await p.act(ann, id, 'approve', { content_hash: seen.content_hash, reason: 'Fine.' })
    expect(approved.body).toMatchObject({
      status: 'applied',
      change_request: { applied_version: 2, user_decision: 'approved' },
    })
    expect(await p.read(flag.id)).toMatchObject({ filters: rollout(50), version: 2 })
    expect((await ann.get(`${p.path}/change_requests/?mine=1`)).body.count).toBe(0)
    const { body: activity } = await s.get(`${p.path}/feature_flags/${flag.id}/activity/`)
    expect(activity.results.map((entry: { activity: string }) => entry.activity)).toEqual([
      'change_applied',
      'updated',
      'change_approved',
      'change_requested',
      'created',
    ])
    expect(activity.results[1]).toMatchObject({
      user: { email: expect.any(String) },
      detail: { trigger: { change_request: id } },
    })
  })

  it('lets a flag be switched off unless a policy names it', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'switch' })
    await p.gate()
    const off = await s.patch(`${p.path}/feature_flags/${flag.id}/`, { active: false })
    expect(off.body).toMatchObject({ active: false, version: 2 })
    await p.propose(flag.id, { active: true })
    const other = await p.flag({ key: 'other' }).then(async body => body.change_request.id as number)
    expect((await p.request(other)).resource_id).toBeNull()
    await p.gate({ action_key: 'feature_flag.disable' })
    const created = await p.act(ann, other, 'approve')
    expect(created.body).toMatchObject({ status: 'applied' })
    await p.propose(Number(created.body.change_request.resource_id), { active: false })
  })

  it('needs a quorum of users who can approve when it is applied, and never the requester alone', async () => {
    const p = await gated({ approver_config: { quorum: 2, users: [ann.id, ben.id] } })
    const flag = await p.flag({ key: 'two' })
    await p.gate()
    const id = await p.propose(flag.id, { name: 'by ann' }, ann)
    expect((await p.act(ann, id, 'approve')).status).toBe(403)
    expect((await p.act(s, id, 'approve')).status).toBe(403)
    expect((await p.act(ben, id, 'approve')).body.status).toBe('pending')
    expect((await p.act(s, id, 'apply')).status).toBe(409)
    const own = await p.propose(flag.id, { name: 'by owner' })
    const both = await Promise.all([p.act(ann, own, 'approve'), p.act(ben, own, 'approve')])
    expect(both.map(({ body }) => body.status).sort()).toEqual(['applied', 'pending'])
    expect((await p.read(flag.id)).name).toBe('by owner')
    const wrong = await s.post(`${p.path}/approval_policies/`, {
      action_key: '*',
      approver_config: { quorum: 3, users: [ann.id, ben.id] },
    })
    expect(wrong.body).toMatchObject({ attr: 'approver_config__quorum' })
  })

  it('rejects with a reason, cancels, and releases what no policy holds any more', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'ends' })
    const policy = await p.gate()
    const rejected = await p.propose(flag.id, { name: 'rejected' })
    expect((await p.act(ann, rejected, 'reject')).body).toMatchObject({ attr: 'reason' })
    expect((await p.act(ann, rejected, 'reject', { reason: 'No.' })).body.status).toBe('rejected')
    expect((await p.act(ben, rejected, 'approve')).status).toBe(409)
    const cancelled = await p.propose(flag.id, { name: 'cancelled' })
    expect((await p.act(ann, cancelled, 'cancel')).status).toBe(403)
    expect((await p.act(s, cancelled, 'cancel')).body.status).toBe('cancelled')
    const released = await p.propose(flag.id, { name: 'released' })
    expect((await s.delete(policy)).status).toBe(204)
    expect((await p.request(released)).state).toBe('approved')
    await s.halyard.jobs.runDue(instantOf(new Date()))
    expect((await p.request(released)).state).toBe('applied')
    expect((await p.read(flag.id)).name).toBe('released')
  })

  it('merges what others changed since, by condition, and stops at a real conflict', async () => {
    const p = await gated({ action_key: 'feature_flag.rollout' })
    const groups = [byEmail('a@example.com', 10), byEmail('b@example.com', 10)]
    const flag = await p.flag({ key: 'merged', filters: { groups } })
    const policy = await p.gate()
    const change = (first: number, second: number, name?: string) => ({
      filters: { groups: [byEmail('a@example.com', first), byEmail('b@example.com', second)] },
      ...(name && { name }),
    })
    const mine = await p.propose(flag.id, change(50, 10))
    const same = await p.propose(flag.id, change(70, 10))
    await s.patch(policy, { enabled: false })
    // Both were released; their approval by the absence of a policy is applied by the job, in order.
    await s.patch(`${p.path}/feature_flags/${flag.id}/`, change(10, 20, 'renamed'))
    await s.halyard.jobs.runDue(instantOf(new Date()))
    expect((await p.request(mine)).state).toBe('applied')
    expect(await p.read(flag.id)).toMatchObject(change(50, 20, 'renamed'))
    const conflicted = await p.request(same)
    expect(conflicted).toMatchObject({ state: 'conflicted', conflicts: ['filters.groups.0'] })
    expect((await p.act(s, same, 'rebase')).status).toBe(409)
    await s.patch(policy, { enabled: true })
    const rebased = await p.act(s, same, 'rebase', { resolve: 'mine' })
    expect(rebased.body).toMatchObject({ status: 'pending', change_request: { conflicts: [] } })
    expect(rebased.body.change_request.content_hash).not.toBe(conflicted.content_hash)
    const stale = await p.act(ann, same, 'approve', { content_hash: conflicted.content_hash })
    expect(stale.status).toBe(409)
    expect((await p.act(ann, same, 'approve')).body.status).toBe('applied')
    expect(await p.read(flag.id)).toMatchObject(change(70, 20, 'renamed'))
  })

  it('applies at the time that was asked for, and drops the time when it passes without approval', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'timed' })
    await p.gate()
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const open = async (name: string) =>
      (await s.post(`${p.path}/change_requests/`, { flag_id: flag.id, patch: { name }, apply_at: inHours(1) })).body
    const dry = await s.post(`${p.path}/change_requests/`, { flag_id: flag.id, patch: { name: 'dry' }, dry_run: true })
    expect(dry).toMatchObject({ status: 200, body: { id: 0, state: 'pending' } })
    const [late, timed] = [await open('late'), await open('timed')]
    expect((await p.act(ann, timed.id, 'approve')).body.status).toBe('approved')
    await s.halyard.jobs.runDue(instantOf(new Date()))
    expect((await p.read(flag.id)).name).toBe('')
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 2 * 3_600_000)))
    expect((await p.read(flag.id)).name).toBe('timed')
    expect(await p.request(late.id)).toMatchObject({ state: 'pending', apply_at: null })
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 400 * 3_600_000)))
    expect((await p.request(late.id)).state).toBe('expired')
    expect((await p.act(ann, late.id, 'approve')).status).toBe(409)
  })

  it('lets an owner break the glass, and lists the change until another admin has reviewed it', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'fire' })
    await p.gate()
    const header = { 'x-halyard-emergency': 'Checkout is down' }
    const path = `${p.path}/feature_flags/${flag.id}/`
    expect((await ann.patch(path, { name: 'no' }, header)).status).toBe(403)
    expect((await s.patch(path, { name: 'fixed' }, header)).body).toMatchObject({ name: 'fixed', version: 2 })
    const { body: open } = await s.get(`${p.path}/change_requests/?review=open`)
    expect(open.results).toMatchObject([{ state: 'applied', emergency_reason: 'Checkout is down', review: null }])
    const [{ id }] = open.results
    expect((await p.act(s, id, 'review', { note: 'mine' })).status).toBe(403)
    const admin = await s.join(`admin-${p.id}`, 8)
    expect((await p.act(admin, id, 'review')).body).toMatchObject({ attr: 'note' })
    expect((await p.act(admin, id, 'review', { note: 'Justified.' })).status).toBe(200)
    expect((await s.get(`${p.path}/change_requests/?review=open`)).body.count).toBe(0)
  })

  it('stores the note of a save in the history, or as the reason of the request that it opens', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'noted' })
    const path = `${p.path}/feature_flags/${flag.id}/`
    const note = { 'x-halyard-note': encodeURIComponent('Für die Messe 🎪') }
    expect((await s.patch(path, { name: 'one' }, note)).status).toBe(200)
    expect((await s.patch(path, { name: 'two' }, { 'x-halyard-note': '100%' })).status).toBe(200)
    const { body: activity } = await s.get(`${path}activity/`)
    const notes = activity.results.map((entry: { detail: { trigger: unknown } }) => entry.detail.trigger)
    expect(notes.slice(0, 2)).toEqual([{ note: '100%' }, { note: 'Für die Messe 🎪' }])
    const long = await s.patch(path, { name: 'three' }, { 'x-halyard-note': 'x'.repeat(2001) })
    expect(long.body).toMatchObject({ attr: 'X-Halyard-Note', code: 'max_length' })
    await p.gate()
    const { body } = await s.patch(path, { name: 'four' }, note)
    expect(await p.request(body.change_request.id)).toMatchObject({ reason: 'Für die Messe 🎪' })
  })

  it('says in a dry run whether a change would need approval, by the number of people if a policy asks', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'foreseen', filters: rollout(10) })
    const foreseen = async (patch: object) =>
      (await s.post(`${p.path}/change_requests/`, { flag_id: flag.id, patch, dry_run: true })).body.state
    expect(await foreseen({ name: 'x' })).toBe('approved')
    const policy = await p.gate({ conditions: { type: 'people_affected', value: 5 } })
    expect(await foreseen({ filters: rollout(90) })).toBe('approved')
    await s.patch(policy, { conditions: {} })
    expect(await foreseen({ filters: rollout(90) })).toBe('pending')
    expect(await foreseen({ active: false })).toBe('approved')
    const request = (patch: object) => s.post(`${p.path}/change_requests/`, { flag_id: flag.id, patch })
    await s.patch(`${p.path}/feature_flags/${flag.id}/`, { active: false })
    expect((await request({ active: true, version: 9 })).status).toBe(409)
    expect((await request({ name: 'x', version: 1 })).status).toBe(201)
  })

  it('asks for approval only where the conditions of a policy hold', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'conditional', filters: rollout(10), tags: ['checkout'] })
    const limit = { type: 'before_after', field: 'rollout_percentage', operator: '>', value: 50 }
    const policy = await p.gate({ conditions: limit })
    const path = `${p.path}/feature_flags/${flag.id}/`
    const passes = async (conditions: object, patch: object) => {
      expect((await s.patch(policy, { conditions })).status).toBe(200)
      return (await s.patch(path, patch)).status
    }
    expect(await passes(limit, { filters: rollout(50) })).toBe(200)
    expect(await passes(limit, { filters: rollout(60) })).toBe(409)
    expect(await passes({ ...limit, type: 'change_amount', value: 5 }, { filters: rollout(55) })).toBe(200)
    expect(await passes({ ...limit, type: 'change_amount', value: 5 }, { filters: rollout(61) })).toBe(409)
    expect(await passes({ type: 'any_change', field: 'name' }, { filters: rollout(61) })).toBe(200)
    expect(await passes({ type: 'any_change', field: 'name' }, { name: 'x' })).toBe(409)
    expect(await passes({ type: 'tag', value: 'checkout' }, { tags: [] })).toBe(409)
    expect(await passes({ type: 'tag', value: 'other' }, { tags: ['checkout', 'more'] })).toBe(200)
    expect(await passes({ type: 'author_is_key' }, { name: 'by key' })).toBe(409)
    await s.post('/capture/', {
      api_key: (await s.get(`${p.path}/`)).body.api_token,
      event: '$identify',
      distinct_id: 'person',
      properties: { $set: { email: 'a@example.com' } },
    })
    expect(await passes({ type: 'people_affected', value: 1 }, { filters: rollout(100) })).toBe(200)
    expect(await passes({ type: 'losses', value: 0 }, { filters: { groups: [byEmail('no-one@example.com')] } })).toBe(
      409,
    )
    for (const conditions of [
      { type: 'unknown' },
      { field: 'x' },
      { type: 'losses' },
      { type: 'all', conditions: [] },
    ]) {
      expect((await s.patch(policy, { conditions })).body).toMatchObject({ attr: 'conditions' })
    }
  })

  it('asks again when more people are affected than those who approved it knew', async () => {
    const p = await gated({ action_key: 'feature_flag.rollout', reapprove_people: 1, reapprove_percent: null })
    const flag = await p.flag({ key: 'grows', filters: rollout(0) })
    await p.gate()
    const { api_token: token } = (await s.get(`${p.path}/`)).body
    const arrive = (id: string) =>
      s.post('/capture/', { api_key: token, event: '$identify', distinct_id: id, properties: { $set: { id } } })
    await arrive('first')
    const applyAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body: request } = await s.post(`${p.path}/change_requests/`, {
      flag_id: flag.id,
      patch: { filters: rollout(100) },
      apply_at: applyAt,
    })
    expect((await p.act(ann, request.id, 'approve')).body.status).toBe('approved')
    for (const id of ['second', 'third']) await arrive(id)
    const later = (hours: number) => instantOf(new Date(Date.now() + hours * 3_600_000))
    await s.halyard.jobs.runDue(later(2))
    const grown = await p.request(request.id)
    expect(grown).toMatchObject({
      state: 'pending',
      impact: { affected: 3 },
      apply_error: 'The people affected have grown from 1 to 3 since it was approved. Approve it again.',
      approvals: [{ is_current: false }],
    })
    expect((await p.act(ann, request.id, 'approve', { content_hash: request.content_hash })).status).toBe(409)
    expect((await p.act(ann, request.id, 'approve')).body.change_request.user_decision).toBe('approved')
    await s.halyard.jobs.runDue(later(3))
    expect((await p.read(flag.id)).filters).toEqual(rollout(100))
  })

  it('lets another person claim the request of someone who left', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'orphaned' })
    await p.gate()
    const leaver = await s.join(`leaver-${p.id}`)
    const id = await p.propose(flag.id, { name: 'by leaver' }, leaver)
    expect((await p.act(ann, id, 'claim')).status).toBe(409)
    await s.delete(`${s.organization}/members/${leaver.uuid}/`)
    expect((await p.act(ann, id, 'claim', { reason: 'We still want it.' })).body.change_request).toMatchObject({
      is_requester: true,
      state: 'pending',
    })
    expect((await p.act(ann, id, 'approve')).status).toBe(403)
    expect((await p.act(ben, id, 'approve')).body.status).toBe('applied')
    const { body: activity } = await s.get(`${p.path}/feature_flags/${flag.id}/activity/`)
    const claimed = activity.results.find((entry: { activity: string }) => entry.activity === 'change_claimed')
    expect(claimed.detail.trigger).toMatchObject({ reason: 'We still want it.', claimed_from: leaver.email })
  })

  it('keeps the policy for keys when a request is claimed with a key', async () => {
    const p = await gated({ conditions: { type: 'author_is_key' } })
    const flag = await p.flag({ key: 'by-key' })
    await p.gate()
    const keyOf = async (client: Client) => {
      const { body } = await client.post('/api/personal_api_keys/', { label: 'bot', scopes: ['*'] })
      return s.as(body.value)
    }
    const leaver = await s.join(`key-leaver-${p.id}`)
    const id = await p.propose(flag.id, { name: 'by a key' }, await keyOf(leaver))
    await s.delete(`${s.organization}/members/${leaver.uuid}/`)
    expect((await p.act(await keyOf(ann), id, 'claim')).body.change_request).toMatchObject({
      through: 'bot',
      policies: [{ action_key: '*', is_satisfied: false }],
    })
    expect((await p.act(ben, id, 'approve')).body.status).toBe('applied')
  })

  it('fails the request for a deleted cohort, unless it restores the cohort', async () => {
    const p = await gated()
    const { body: cohort } = await s.post(`${p.path}/cohorts/`, { name: 'gone', is_static: true })
    await p.gate({ action_key: 'cohort.update' })
    const path = `${p.path}/cohorts/${cohort.id}/`
    const propose = async (patch: object) => (await s.patch(path, patch)).body.change_request.id
    const [removal, rename] = [await propose({ deleted: true }), await propose({ name: 'renamed' })]
    expect((await p.act(ann, removal, 'approve')).body.status).toBe('applied')
    const failed = (await p.act(ann, rename, 'approve')).body
    expect(failed).toMatchObject({ status: 'failed', change_request: { apply_error: 'The cohort was deleted.' } })
    expect((await p.act(ann, await propose({ deleted: false }), 'approve')).body.status).toBe('applied')
    expect((await s.get(path)).body).toMatchObject({ name: 'gone', deleted: false })
  })

  it('counts no approval of those who can only view', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'viewed' })
    const viewer = await s.join(`viewer-${p.id}`)
    const setLevel = (level: number) => s.patch(`${s.organization}/members/${viewer.uuid}/`, { level })
    const approvers = { approver_config: { users: [viewer.id, ben.id], quorum: 2 } }
    const policy = await p.gate(approvers)
    const id = await p.propose(flag.id, { name: 'approved by a viewer' })
    expect((await p.act(viewer, id, 'approve')).body.status).toBe('pending')
    await setLevel(0)
    expect((await p.act(ben, id, 'approve')).body.status).toBe('pending')
    expect(await p.read(flag.id)).toMatchObject({ name: '' })
    expect(await s.patch(policy, approvers)).toMatchObject({
      status: 400,
      body: { attr: 'approver_config__users' },
    })
    await setLevel(1)
    expect((await p.act(viewer, id, 'approve')).body.status).toBe('applied')
  })

  it('merges payloads of variants with the names of built-in properties', async () => {
    const p = await gated()
    const filters = (payloads: object) => ({
      ...rollout(100),
      multivariate: {
        variants: [
          { key: 'constructor', rollout_percentage: 50 },
          { key: 'toString', rollout_percentage: 50 },
        ],
      },
      payloads,
    })
    const flag = await p.flag({ key: 'built-in', filters: filters({ constructor: '1', toString: '2' }) })
    await p.gate()
    const removal = await p.propose(flag.id, { filters: filters({ toString: '2' }) })
    expect(await p.request(removal)).toMatchObject({ state: 'pending', conflicts: [] })
    expect((await p.act(ann, removal, 'approve')).body.status).toBe('applied')
    expect((await p.read(flag.id)).filters.payloads).toEqual({ toString: '2' })
  })

  it('takes another time for other content, which has to be approved again', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'moved-time' })
    await p.gate()
    const inHours = (hours: number) => instantOf(new Date(Date.now() + hours * 3_600_000))
    const body = { flag_id: flag.id, patch: { name: 'later' }, apply_at: inHours(1) }
    const { body: request } = await s.post(`${p.path}/change_requests/`, body)
    expect((await p.act(ann, request.id, 'approve')).body.status).toBe('approved')
    const later = inHours(3)
    const moved = await p.act(s, request.id, 'reschedule', { apply_at: later, reason: 'After lunch.' })
    expect(moved.body).toMatchObject({
      status: 'pending',
      change_request: { apply_at: later, approvals: [{ is_current: false }] },
    })
    await s.halyard.jobs.runDue(inHours(2))
    expect((await p.read(flag.id)).name).toBe('')
    expect((await p.act(s, request.id, 'reschedule', {})).body).toMatchObject({ attr: 'apply_at', code: 'required' })
    expect((await p.act(s, request.id, 'reschedule', { apply_at: inHours(-1) })).body).toMatchObject({
      attr: 'apply_at',
    })
    expect((await p.act(s, request.id, 'reschedule', { apply_at: null })).body.status).toBe('pending')
    expect((await p.act(ann, request.id, 'approve')).body.status).toBe('applied')
    expect((await p.read(flag.id)).name).toBe('later')
    expect((await p.act(s, request.id, 'reschedule', { apply_at: null })).status).toBe(409)
  })

  it('records each step with the person, the key and the reason', async () => {
    const p = await gated()
    const flag = await p.flag({ key: 'audited' })
    const policy = await p.gate()
    const later = (hours: number) => instantOf(new Date(Date.now() + hours * 3_600_000))
    const leaver = await s.join(`audited-leaver-${p.id}`)
    const propose = async (name: string, client: Client = s, more: object = {}) => {
      const body = { flag_id: flag.id, patch: { name }, reason: `for ${name}`, ...more }
      return (await client.post(`${p.path}/change_requests/`, body)).body.id as number
    }
    const rejected = await propose('rejected')
    await p.act(ann, rejected, 'reject', { reason: 'no' })
    const cancelled = await propose('cancelled')
    await p.act(s, cancelled, 'cancel', { reason: 'done' })
    const claimed = await propose('claimed', leaver)
    await s.delete(`${s.organization}/members/${leaver.uuid}/`)
    expect(await p.request(claimed)).toMatchObject({ can_claim: true })
    await p.act(ben, claimed, 'claim', { reason: 'mine now' })
    await p.act(ben, claimed, 'rebase')
    await p.act(ben, claimed, 'reschedule', { apply_at: later(1), reason: 'not yet' })
    await p.act(ann, claimed, 'approve', { reason: 'yes' })
    const missed = await propose('missed', s, { apply_at: later(1) })
    await s.halyard.jobs.runDue(later(2))
    await s.halyard.jobs.runDue(later(400))
    const withdrawn = await propose('withdrawn', s, { apply_at: later(1) })
    await p.act(ann, withdrawn, 'approve', { reason: 'yes' })
    await s.patch(policy, { approver_config: { users: [ben.id] } })
    await s.halyard.jobs.runDue(later(2))
    await p.act(s, withdrawn, 'cancel', { reason: 'too late' })
    await s.patch(policy, { approver_config: { users: [ann.id, ben.id] } })
    const failed = await propose('failed', s, { patch: { key: 'taken' } })
    const { body: taken } = await s.post(`${p.path}/feature_flags/`, { key: 'taken' })
    await p.act(ann, taken.change_request.id, 'approve')
    await p.act(ann, failed, 'approve', { reason: 'yes' })
    const frozen = await propose('frozen', s, { apply_at: later(1) })
    await p.act(ann, frozen, 'approve', { reason: 'yes' })
    const freeze = { reason: 'Sale', starts_at: later(0.5), ends_at: later(3), project: p.id }
    await s.post(`${s.organization}/freezes/`, freeze)
    await s.halyard.jobs.runDue(later(2))
    await s.halyard.jobs.runDue(later(4))
    const released = await propose('released')
    await s.patch(`${p.path}/feature_flags/${flag.id}/`, { name: 'fire' }, { 'x-halyard-emergency': 'down' })
    const admin = await s.join(`audited-admin-${p.id}`, 8)
    const [{ id: emergency }] = (await s.get(`${p.path}/change_requests/?review=open`)).body.results
    await p.act(admin, emergency, 'review', { note: 'justified' })
    await s.delete(policy)
    await s.halyard.jobs.runDue(instantOf(new Date()))
    const { body: activity } = await s.get(`${p.path}/feature_flags/${flag.id}/activity/?limit=100`)
    const owner = 'owner@halyard.local'
    type Entry = {
      activity: string
      user: { email: string | null }
      through: string | null
      detail: { trigger: { change_request?: number; reason?: string } | null }
    }
    const steps = (activity.results as Entry[])
      .filter(({ activity: step }) => step !== 'created' && step !== 'updated')
      .map(({ activity: step, user, through, detail }) => {
        // A person acts through a key, the system through none.
        expect(through !== null, step).toBe(user.email !== null)
        return [step, detail.trigger?.change_request, user.email, detail.trigger?.reason]
      })
      .reverse()
    expect(steps).toEqual([
      ['change_requested', rejected, owner, 'for rejected'],
      ['change_rejected', rejected, ann.email, 'no'],
      ['change_requested', cancelled, owner, 'for cancelled'],
      ['change_cancelled', cancelled, owner, 'done'],
      ['change_requested', claimed, leaver.email, 'for claimed'],
      ['change_claimed', claimed, ben.email, 'mine now'],
      ['change_rebased', claimed, ben.email, 'for claimed'],
      ['change_rescheduled', claimed, ben.email, 'not yet'],
      ['change_approved', claimed, ann.email, 'yes'],
      ['change_requested', missed, owner, 'for missed'],
      ['change_applied', claimed, null, 'for claimed'],
      ['change_missed_time', missed, null, expect.stringContaining('not approved before the time')],
      ['change_expired', missed, null, expect.stringContaining('expired')],
      ['change_requested', withdrawn, owner, 'for withdrawn'],
      ['change_approved', withdrawn, ann.email, 'yes'],
      ['change_pending', withdrawn, null, expect.stringContaining('no longer suffices')],
      ['change_cancelled', withdrawn, owner, 'too late'],
      ['change_requested', failed, owner, 'for failed'],
      ['change_approved', failed, ann.email, 'yes'],
      ['change_failed', failed, ann.email, expect.stringContaining('key')],
      ['change_requested', frozen, owner, 'for frozen'],
      ['change_approved', frozen, ann.email, 'yes'],
      ['change_frozen', frozen, null, expect.stringContaining('Sale')],
      ['change_applied', frozen, null, 'for frozen'],
      ['change_requested', released, owner, 'for released'],
      ['emergency_applied', emergency, owner, 'down'],
      ['emergency_reviewed', emergency, admin.email, 'justified'],
      ['change_released', released, owner, expect.stringContaining('No policy')],
      ['change_conflicted', released, null, expect.stringContaining('name')],
    ])
  })

  it('does not count the approval of someone who lost the role before it is applied, nor apply to a deleted flag', async () => {
    const p = await gated()
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: `reviewers-${p.id}` })
    const members = `${s.organization}/roles/${role.id}/role_memberships/`
    const { body: membership } = await s.post(members, { user_uuid: ann.uuid })
    const [flag, doomed] = [await p.flag({ key: 'role' }), await p.flag({ key: 'doomed' })]
    await p.gate({ approver_config: { users: [], roles: [role.id] } })
    const applyAt = new Date(Date.now() + 3_600_000).toISOString()
    const ids: number[] = []
    for (const { id } of [flag, doomed]) {
      const body = { flag_id: id, patch: { name: 'approved' }, apply_at: applyAt }
      const { body: request } = await s.post(`${p.path}/change_requests/`, body)
      expect((await p.act(ann, request.id, 'approve')).body.status).toBe('approved')
      ids.push(request.id)
    }
    await s.patch(`${p.path}/feature_flags/${doomed.id}/`, { deleted: true }, { 'x-halyard-emergency': 'Clean up' })
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 2 * 3_600_000)))
    expect(await p.request(ids[0]!)).toMatchObject({ state: 'applied' })
    expect(await p.request(ids[1]!)).toMatchObject({ state: 'failed', apply_error: 'The flag was deleted.' })
    const again = await s.post(`${p.path}/change_requests/`, {
      flag_id: flag.id,
      patch: { name: 'again' },
      apply_at: applyAt,
    })
    await p.act(ann, again.body.id, 'approve')
    expect((await s.delete(`${members}${membership.id}/`)).status).toBe(204)
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 2 * 3_600_000)))
    expect(await p.request(again.body.id)).toMatchObject({
      state: 'pending',
      apply_error: expect.stringContaining('no longer suffices'),
    })
    expect((await p.read(flag.id)).name).toBe('approved')
  })

  it('lets the roles that a policy names break the glass, and only those', async () => {
    const p = await gated()
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: `on-call-${p.id}` })
    await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: ann.uuid })
    const flag = await p.flag({ key: 'on-call' })
    const policy = await p.gate({ emergency_roles: [role.id] })
    const header = { 'x-halyard-emergency': 'Checkout is down' }
    const path = `${p.path}/feature_flags/${flag.id}/`
    expect((await ben.patch(path, { name: 'no' }, header)).status).toBe(403)
    expect((await ann.patch(path, { name: 'fixed' }, header)).body.name).toBe('fixed')
    expect((await s.get(`${p.path}/change_requests/?review=open`)).body.results).toMatchObject([
      { emergency_reason: 'Checkout is down', created_by: { email: ann.email } },
    ])
    await p.gate({ action_key: 'feature_flag.update' })
    expect((await ann.patch(path, { name: 'again' }, header)).status).toBe(403)
    expect((await s.patch(policy, { emergency_roles: ['nope'] })).body).toMatchObject({ attr: 'emergency_roles' })
  })

  describe('cohorts', () => {
    it('record on what grounds members changed', async () => {
      const p = await gated({ action_key: 'cohort.update' })
      const { body: cohort } = await s.post(`${p.path}/cohorts/`, { name: 'grounds', is_static: true })
      await p.gate()
      const path = `${p.path}/cohorts/${cohort.id}/`
      const header = { 'x-halyard-emergency': 'down' }
      const { api_token: token } = (await s.get(`${p.path}/`)).body
      await s.post('/capture/', { api_key: token, event: '$identify', distinct_id: 'member' })
      const added = await s.post(`${path}persons/`, { distinct_ids: ['member'] }, header)
      expect(added.body).toMatchObject({ version: 1 })
      const [review] = (await s.get(`${p.path}/change_requests/?review=open`)).body.results
      expect(review).toMatchObject({ state: 'applied', applied_version: 1 })
      const { body: removed } = await s.patch(`${path}remove_person_from_static_cohort/`, { distinct_ids: ['member'] })
      expect((await p.act(ann, removed.change_request.id, 'approve')).body.status).toBe('applied')
      const { results } = (await s.get(`${path}activity/`)).body
      const updates = results.filter((entry: { activity: string }) => entry.activity === 'updated')
      expect(updates.map((entry: { detail: { trigger: unknown } }) => entry.detail.trigger)).toEqual([
        { change_request: removed.change_request.id },
        { emergency: 'down' },
      ])
    })

    it('are gated like flags, with their members', async () => {
      const p = await gated({ action_key: 'cohort.update' })
      const { body: cohort } = await s.post(`${p.path}/cohorts/`, { name: 'static', is_static: true })
      await p.gate()
      const path = `${p.path}/cohorts/${cohort.id}/`
      const renamed = await s.patch(path, { name: 'renamed' })
      expect(renamed).toMatchObject({ status: 409, body: { resource_type: 'cohort', resource_id: String(cohort.id) } })
      const added = await s.patch(`${path}add_persons_to_static_cohort/`, { distinct_ids: ['x'] })
      expect(added.status).toBe(409)
      expect((await p.act(ann, renamed.body.change_request.id, 'approve')).body.status).toBe('applied')
      expect((await p.act(ann, added.body.change_request.id, 'approve')).body.status).toBe('applied')
      expect((await s.get(path)).body.name).toBe('renamed')
    })
  })

  it('is unknown to strangers, and policies are changed by admins alone', async () => {
    const p = await gated()
    await p.gate()
    const stranger = await s.stranger(`stranger-${p.id}`)
    expect((await stranger.get(`${p.path}/change_requests/`)).status).toBe(404)
    expect((await stranger.get(`${p.path}/approval_policies/`)).status).toBe(404)
    expect((await ann.post(`${p.path}/approval_policies/`, { action_key: '*' })).status).toBe(403)
    expect((await s.get(`${s.project}/change_requests/999999/`)).status).toBe(404)
  })
})
