import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../features/identity/secret.ts'
import { createPersonLedger, type PersonLedger } from '../../features/persons/person-ledger.ts'
import { Problem } from '../../problem.ts'
import { onEachPersonsDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { createEvaluator } from '../evaluator.ts'
import { readEvaluationRequest } from './evaluation-request.ts'
import type { IdentifiedRequest } from './gather-subject.ts'

const at = '2026-01-01T00:00:00.000000Z'
const set = (properties: Record<string, unknown>) => ({ set: properties, setOnce: {}, unset: [] })

onEachPersonsDatabase('what is stored about a subject', (dialect, persons) => {
  const s = suiteScenario(dialect, persons)
  let flags: string
  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    await s.halyard.database.transaction(
      async tx => {
        const { index } = (await tx.groupTypes.ensure(s.projectId, 'company'))!
        await tx.people.groups.update(s.projectId, { typeIndex: index, key: 'acme' }, set({ size: 'large' }), at)
        await tx.changes.append({ topic: 'project', organizationId: null, projectId: s.projectId, entityId: '', at })
      },
      { withPersons: true },
    )
    await s.post(flags, { key: 'pro', filters: { groups: [{ properties: [person('plan', 'pro')] }] } })
    await s.post(flags, {
      key: 'large',
      filters: {
        aggregation_group_type_index: 0,
        groups: [{ properties: [{ key: 'size', type: 'group', group_type_index: 0, value: 'large' }] }],
      },
    })
    await s.post(flags, {
      key: 'sticky',
      ensure_experience_continuity: true,
      filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
    })
  })

  const person = (key: string, value: unknown) => ({ key, type: 'person', operator: 'exact', value })
  const learn = (ids: readonly string[], update: (ledger: PersonLedger) => void) =>
    s.halyard.database.transaction(
      async tx => {
        const ledger = createPersonLedger(await tx.people.persons.findByDistinctIds(s.projectId, ids), newUuid)
        update(ledger)
        await tx.people.persons.write(s.projectId, ledger.drafts())
        await tx.changes.append({ topic: 'project', organizationId: null, projectId: s.projectId, entityId: '', at })
      },
      { withPersons: true },
    )
  const ask = async (body: object): Promise<Record<string, { enabled: boolean }>> =>
    (await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, ...body })).body.flags

  it('is merged with the properties of the request, which take precedence', async () => {
    await s.post(flags, { key: 'by-id', filters: { groups: [{ properties: [person('distinct_id', 'paying')] }] } })
    await learn([], ledger => ledger.update('paying', set({ plan: 'pro', distinct_id: 'another' }), at))
    expect((await ask({ distinct_id: 'paying' }))['by-id']?.enabled).toBe(true)
    expect((await ask({ distinct_id: 'paying' })).pro?.enabled).toBe(true)
    expect((await ask({ distinct_id: 'unknown' })).pro?.enabled).toBe(false)
    expect((await ask({ distinct_id: 'paying', person_properties: { other: 1 } })).pro?.enabled).toBe(true)
    expect((await ask({ distinct_id: 'paying', person_properties: { plan: 'free' } })).pro?.enabled).toBe(false)
  })

  it('includes when the person was created', async () => {
    const since = (value: string) => [{ key: 'created_at', type: 'person_metadata', operator: 'is_date_after', value }]
    const { body: flag } = await s.post(flags, {
      key: 'young',
      filters: { groups: [{ properties: since('2025-06-01') }] },
    })
    await learn([], ledger => {
      ledger.see('old', '2025-01-01T00:00:00.000000Z')
      ledger.see('young', at)
    })
    const value = async (body: object) => (await ask(body)).young?.enabled
    expect(await value({ distinct_id: 'young' })).toBe(true)
    expect(await value({ distinct_id: 'old' })).toBe(false)
    expect(await value({ distinct_id: 'stranger' })).toBe(false)
    // A property of the same name is another thing.
    expect(await value({ distinct_id: 'old', person_properties: { created_at: at } })).toBe(false)
    const properties = encodeURIComponent(JSON.stringify(since('2025-06-01')))
    const listed = (await s.get(`${s.project}/persons/?properties=${properties}`)).body.results
    expect(listed.flatMap((one: { distinct_ids: string[] }) => one.distinct_ids)).toContain('young')
    expect(listed.flatMap((one: { distinct_ids: string[] }) => one.distinct_ids)).not.toContain('old')
    const radius = await s.post(`${flags}user_blast_radius/`, { condition: { properties: since('2025-06-01') } })
    expect(radius.body.users_affected).toBe(listed.length)
    // SDKs that evaluate locally ask the server.
    const { body } = await s.get(`/flags/definitions?token=${s.projectToken}`)
    const sent = body.flags.find(({ key }: { key: string }) => key === 'young')
    expect(sent.ensure_experience_continuity).toBe(true)
    const refused = await s.post(flags, {
      key: 'refused',
      filters: { groups: [{ properties: [{ ...since(at)[0], key: 'id' }] }] },
    })
    expect([refused.status, refused.body.attr]).toEqual([400, 'filters'])
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
  })

  it('is looked up for groups as well', async () => {
    expect((await ask({ distinct_id: 'a', groups: { company: 'acme' } })).large?.enabled).toBe(true)
    expect((await ask({ distinct_id: 'a', groups: { company: 'tiny' } })).large?.enabled).toBe(false)
    const given = { groups: { company: 'tiny' }, group_properties: { company: { size: 'large' } } }
    expect((await ask({ distinct_id: 'a', ...given })).large?.enabled).toBe(true)
  })

  it('keeps the value that a person saw first, also after they are identified', async () => {
    const value = async (body: object) => (await ask(body)).sticky?.enabled
    // Ids on either side of the rollout.
    const ids = Array.from({ length: 40 }, (_, n) => `anonymous-${n}`)
    const values = await Promise.all(ids.map(id => value({ distinct_id: id })))
    const [inside, outside] = [ids[values.indexOf(true)]!, ids[values.indexOf(false)]!]
    await learn([], ledger => {
      ledger.see(inside, at)
      ledger.merge(outside, inside, at)
    })
    // The person was cached above, and PostgreSQL announces changes after the commit.
    await expect.poll(() => value({ distinct_id: outside, $anon_distinct_id: inside })).toBe(true)
    expect(await value({ distinct_id: outside })).toBe(true)
    expect(await value({ distinct_id: outside, $anon_distinct_id: 'another' })).toBe(true)
    // An unknown person is bucketed by the anonymous id as long as it is sent.
    expect(await value({ distinct_id: 'unknown-person', $anon_distinct_id: inside })).toBe(true)
  })

  it('is missing when the database is unavailable: flags that need it fail, all others evaluate', async () => {
    await s.post(flags, { key: 'everyone' })
    const served = (await s.halyard.serving.snapshots.forProject(s.projectId))!
    expect(served.hasPersons).toBe(true)
    let asked = 0
    const evaluator = createEvaluator({
      async find() {
        asked += 1
        throw new Problem('unavailable', 'The database is away.')
      },
    })
    const evaluated = async (personProperties: object) => {
      const body = { distinct_id: 'paying', person_properties: personProperties }
      const { outcomes, isIncomplete } = await evaluator.evaluate(
        served,
        readEvaluationRequest(body, {}) as IdentifiedRequest,
      )
      const outcomeOf = (key: string) => {
        const index = served.snapshot.indexOf(key)!
        const { enabled, failed } = served.snapshot.flags[index]!.outcomes[outcomes.outcomeIndex(index)]!
        return { enabled, failed }
      }
      return { isIncomplete, everyone: outcomeOf('everyone'), pro: outcomeOf('pro'), sticky: outcomeOf('sticky') }
    }
    expect(await evaluated({})).toEqual({
      isIncomplete: true,
      everyone: { enabled: true, failed: false },
      pro: { enabled: false, failed: true },
      sticky: { enabled: false, failed: true },
    })
    expect(await evaluated({ plan: 'pro' })).toMatchObject({ pro: { enabled: true, failed: false } })
    // After a failure lookups are skipped for a moment, so that clients need not wait again.
    expect(asked).toBe(1)
  })
})
