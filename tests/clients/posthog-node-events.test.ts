import { PostHog } from 'posthog-node'
import { expect, it } from 'vitest'
import { onEachDatabaseAndPath } from '../../packages/server/src/testing/paths.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

onEachDatabaseAndPath('events of the unmodified posthog-node', (dialect, environment) => {
  const s = suiteScenario(dialect, { environment })

  it('update persons and counts', async () => {
    await s.post(`${s.project}/feature_flags/`, { key: 'beta' })
    const client = new PostHog(s.projectToken, { host: s.url, flushAt: 3, flushInterval: 0 })
    const errors: unknown[] = []
    client.on('error', error => errors.push(error))
    client.capture({ distinctId: 'anonymous-7', event: 'visited', properties: { $set_once: { from: 'ad' } } })
    client.identify({ distinctId: 'ada', properties: { $set: { plan: 'pro' }, $anon_distinct_id: 'anonymous-7' } })
    client.alias({ distinctId: 'ada', alias: 'ada@example.com' })
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 12 } })
    client.capture({ distinctId: 'ada', event: 'bought', groups: { company: 'acme' } })
    expect(await client.getFeatureFlag('beta', 'ada')).toBe(true)
    await client.shutdown()
    expect(errors).toEqual([])

    const page = await s.get(`${s.project}/persons/?search=ada`)
    expect(page.body.results).toMatchObject([
      {
        distinct_ids: ['ada', 'ada@example.com', 'anonymous-7'],
        properties: { plan: 'pro', from: 'ad' },
        is_identified: true,
      },
    ])
    const group = await s.get(`${s.project}/groups/find/?group_type_index=0&group_key=acme`)
    expect(group.body.group_properties).toEqual({ size: 12 })
    const day = new Date().toISOString().slice(0, 10)
    const range = { flagKey: 'beta', kind: 'called', from: '2000-01-01', to: day } as const
    const series = await s.halyard.database.read(tx => tx.usage.series(s.projectId, range))
    expect(series).toMatchObject([{ variant: 'true', calls: 1, users: 1 }])
  })
})
