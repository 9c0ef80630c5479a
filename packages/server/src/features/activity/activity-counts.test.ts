import { expect, it } from 'vitest'
import { plusMilliseconds } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { createActivityCounts } from './activity-counts.ts'

it('evicts the least recently used count', () => {
  const counts = createActivityCounts()
  expect(counts.find('new')).toEqual({ from: 0, upTo: 0, count: 0 })
  for (let n = 0; n < 1000; n++) counts.store(`filter ${n}`, { from: 1, upTo: n, count: n })
  expect(counts.find('filter 0').count).toBe(0)
  counts.find('filter 1')
  counts.store('one more', { from: 1, upTo: 1, count: 1 })
  counts.store('and one more', { from: 1, upTo: 1, count: 1 })
  expect(counts.find('filter 1').count).toBe(1)
  expect(counts.find('filter 3').count).toBe(0)
  expect(counts.find('filter 4').count).toBe(4)
})

onEachDatabase('the number of entries', dialect => {
  const s = suiteScenario(dialect)

  const first = '2024-01-01T00:00:00.000000Z'
  const append = (from: number, count: number) =>
    s.halyard.database.transaction(async tx => {
      const project = (await tx.projects.find(s.projectId))!
      for (let n = from; n < from + count; n++) {
        await tx.activity.append({
          organizationId: project.organizationId,
          projectId: project.id,
          scope: 'FeatureFlag',
          itemId: String(n % 2),
          activity: 'updated',
          user: null,
          keyLabel: null,
          detail: { name: 'many', changes: [], trigger: null },
          createdAt: plusMilliseconds(first, n * 1000),
        })
      }
    })
  const count = async () => {
    const reply = await s.get(`/api/projects/${s.projectId}/feature_flags/activity/?limit=1`)
    return (reply.body as { count: number }).count
  }

  it('is exact before, while and after older entries are settled', async () => {
    const before = await count()
    // More than ten minutes with a change per second: the last five minutes never count as settled.
    await append(0, 700)
    expect(await count()).toBe(before + 700)
    expect(await count()).toBe(before + 700)
    await append(700, 600)
    expect(await count()).toBe(before + 1300)
    expect(await count()).toBe(before + 1300)
  })

  it('is exact after the oldest entries are removed', async () => {
    const before = await count()
    const removed = await s.halyard.database.transaction(tx =>
      tx.activity.removeBefore('2024-01-01T00:10:00.000000Z', 1000),
    )
    expect(removed).toBeGreaterThan(500)
    expect(await count()).toBe(before - removed)
  })
})
