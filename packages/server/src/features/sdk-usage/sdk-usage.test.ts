import { expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { recordSdkUsage } from './record-sdk-usage.ts'

onEachDatabase('connected SDKs', dialect => {
  const s = suiteScenario(dialect)

  const list = async () => (await s.get(`${s.project}/connected_sdks/`)).body

  it('lists libraries and versions that evaluate flags or send events', async () => {
    expect(await list()).toEqual([])
    await s.as(undefined).post('/batch/', {
      api_key: s.projectToken,
      batch: [{ event: 'seen', distinct_id: 'ada', properties: { $lib: 'web', $lib_version: '1.2.3' } }],
    })
    const python = { 'user-agent': 'posthog-python/3.1.0' }
    await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'ada' }, python)
    await expect.poll(async () => (await list()).length).toBe(2)
    expect(await list()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ library: 'posthog-js', version: '1.2.3', calls: 1 }),
        expect.objectContaining({ library: 'posthog-python', version: '3.1.0', calls: 1 }),
      ]),
    )
  })

  it('adds to the counts of two nodes and stores a bounded number', async () => {
    const call = (library: string) => ({ projectId: s.projectId, library, version: '1', calls: 2 })
    const { database } = s.halyard
    const at = new Date().toISOString().replace('Z', '000Z')
    await Promise.all([1, 2, 3].map(() => recordSdkUsage(database, [call('a'), call('b')], at)))
    expect(await list()).toEqual(expect.arrayContaining([expect.objectContaining({ library: 'a', calls: 6 })]))
    const many = Array.from({ length: 150 }, (_, n) => call(`many-${n}`))
    await recordSdkUsage(database, [...many, { ...call('x'), projectId: 999_999 }], at)
    expect(await list()).toHaveLength(100)
  })
})
