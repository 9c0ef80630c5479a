import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { canonicalJson, verifyChain } from './verify-chain.ts'

onEachDatabase('the audit log', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  const organizationId = () => s.organization.split('/').at(-1)!
  const entries = async () => {
    const rows = await s.halyard.database.read(tx => tx.audit.listAfter(organizationId(), 0, 1000))
    return rows.map(({ content, hash }) => ({ ...JSON.parse(content), hash }))
  }

  it('holds who changed what, from where, by which credential and why', async () => {
    const reply = await s.post(
      `${s.project}/feature_flags/`,
      { key: 'audited' },
      { 'x-halyard-note': 'for%20the%20launch', 'x-request-id': 'request-1' },
    )
    expect(reply.status).toBe(201)
    await s.patch(`${s.project}/feature_flags/${reply.body.id}/`, { name: 'Ä "quoted" \u0007 name' })
    const [created, updated] = (await entries()).slice(-2)
    expect(created).toMatchObject({
      actor: { email: 'owner@halyard.local' },
      address: '127.0.0.1',
      credential: { kind: 'personal_api_key' },
      note: 'for the launch',
      objects: [{ type: 'FeatureFlag', id: String(reply.body.id), name: 'audited', activity: 'created' }],
      operation: 'createFeatureFlag',
      path: { project_id: String(s.projectId) },
      request_id: 'request-1',
    })
    expect(updated.objects[0].changes).toEqual([
      { action: 'changed', field: 'name', before: '', after: 'Ä "quoted" \u0007 name' },
    ])
    expect(updated.previous_hash).toBe(created.hash)
  })

  it('has no entry for a write that is refused or invalid', async () => {
    const before = (await entries()).length
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'audited' })).status).toBe(400)
    expect((await s.patch(`${s.project}/feature_flags/999/`, { name: 'x' })).status).toBe(404)
    expect((await s.as('phx_wrong').post(`${s.project}/feature_flags/`, { key: 'x' })).status).toBe(401)
    expect(await entries()).toHaveLength(before)
  })

  it('has an entry for a patch that changes nothing', async () => {
    const before = (await entries()).length
    const { body } = await s.get(`${s.project}/feature_flags/?search=audited`)
    expect((await s.patch(`${s.project}/feature_flags/${body.results[0].id}/`, {})).status).toBe(200)
    const after = await entries()
    expect(after).toHaveLength(before + 1)
    expect(after.at(-1)).toMatchObject({ operation: 'updateFeatureFlag', path: { id: String(body.results[0].id) } })
  })

  it('is a chain of hashes that continues under concurrent writers', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => s.post(`${s.project}/feature_flags/`, { key: `concurrent-${n}` })),
    )
    const rows = await s.halyard.database.read(tx => tx.audit.listAfter(organizationId(), 0, 1000))
    const lines = rows.map(({ content, hash }) => canonicalJson({ ...JSON.parse(content), hash }))
    const head = await s.halyard.database.read(tx => tx.audit.findHead(organizationId()))
    const result = await verifyChain([
      ...lines,
      canonicalJson({ head: { sequence: head!.sequence, hash: head!.hash } }),
    ])
    expect(result).toMatchObject({ entries: rows.length, faults: [] })
  })
})
