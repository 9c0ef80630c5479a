import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('names and values of events and properties', dialect => {
  const s = suiteScenario(dialect)
  beforeAll(async () => {
    const identify = { $group_type: 'company', $group_key: 'acme', $group_set: { industry: 'ships', employees: 9 } }
    await capture({ event: '$groupidentify', distinct_id: 'ada', properties: identify })
    await capture(
      { event: '$set', distinct_id: 'ada', $set: { plan: 'pro', email: 'ada@example.com', age: 36 } },
      { event: '$set', distinct_id: 'bob', $set: { plan: 'pro', since: '2026-01-02' } },
      { event: '$set', distinct_id: 'cy', $set: { plan: 'free', nested: { a: 1 } } },
      { event: 'paid', distinct_id: 'ada', properties: { amount: 5, method: 'card', email: 'x@y.z', '$feature/a': 1 } },
      { event: 'paid', distinct_id: 'bob', properties: { amount: 7, method: 'card', note: 'x'.repeat(300) } },
    )
  })

  const capture = (...batch: object[]) => s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
  const names = async (path: string) =>
    (await s.get(`${s.project}/${path}`)).body.results.map(({ name }: { name: string }) => name)
  const values = async (path: string) =>
    (await s.get(`${s.project}/${path}`)).body.map(({ name }: { name: unknown }) => name)

  it('lists the names of events and of the properties of each kind', async () => {
    expect(await names('event_definitions/')).toEqual(['$groupidentify', '$set', 'paid'])
    expect(await names('event_definitions/?search=PAI')).toEqual(['paid'])
    expect(await names('property_definitions/?type=person')).toEqual(['age', 'email', 'nested', 'plan', 'since'])
    expect(await names('property_definitions/?type=group&group_type_index=0')).toEqual(['employees', 'industry'])
    expect(await names('property_definitions/')).toEqual(expect.arrayContaining(['amount', 'method', 'note']))
    expect(await names('property_definitions/')).not.toContain('$feature/a')
    const { body } = await s.get(`${s.project}/property_definitions/?type=person&search=AGE`)
    expect(body).toMatchObject({
      count: 1,
      results: [{ name: 'age', type: 'person', property_type: 'Numeric', is_numerical: true, group_type_index: null }],
    })
    const again = await s.get(`${s.project}/property_definitions/?type=person&search=age`)
    expect(again.body.results[0].id).toBe(body.results[0].id)
  })

  it('samples values, the most frequent first, and none that identify a person or are long', async () => {
    expect(await values('persons/values/?key=plan')).toEqual(['pro', 'free'])
    expect(await values('persons/values/?key=plan&value=RE')).toEqual(['free'])
    expect(await values('persons/values/?key=nested')).toEqual([])
    expect(await values('groups/property_values/?group_type_index=0&key=industry')).toEqual(['ships'])
    expect(await values('events/values/?key=amount')).toEqual([5, 7])
    expect(await values('events/values/?key=method')).toEqual(['card'])
    for (const key of ['email', 'note']) expect(await values(`events/values/?key=${key}`)).toEqual([])
  })

  it('forgets the values of a deleted person', async () => {
    expect(await values('persons/values/?key=email')).toEqual(['ada@example.com'])
    const [ada] = (await s.get(`${s.project}/persons/?distinct_id=ada`)).body.results
    await s.delete(`${s.project}/persons/${ada.id}/`)
    expect(await values('persons/values/?key=email')).toEqual([])
  })

  it('rejects parameters it cannot use', async () => {
    for (const [path, attr] of [
      ['property_definitions/?type=flag', 'type'],
      ['property_definitions/?type=group', 'group_type_index'],
      ['persons/values/', 'key'],
      ['groups/property_values/?key=a&group_type_index=9', 'group_type_index'],
    ]) {
      expect(await s.get(`${s.project}/${path}`)).toMatchObject({ status: 400, body: { attr } })
    }
  })

  it('stores a bounded number of names and values', async () => {
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_, n) => [`p${n}`, n]))
    await capture({ event: 'wide', distinct_id: 'ada', properties: many })
    for (let n = 0; n < 3; n += 1) {
      const batch = Array.from({ length: 10 }, (_, i) => ({
        event: 'paid',
        distinct_id: 'ada',
        properties: { amount: n * 10 + i },
      }))
      await capture(...batch)
    }
    const stored = await s.halyard.database.read(async tx => ({
      names: await tx.definitions.list(s.projectId, 'event_property'),
      values: await tx.definitions.listValues(s.projectId, 'amount'),
    }))
    expect(stored.names).toHaveLength(1000)
    expect(stored.values).toHaveLength(20)
  })
})
