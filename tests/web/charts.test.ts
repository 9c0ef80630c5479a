import { beforeAll, describe, expect, it, vi } from 'vitest'
import { expectSound, suiteVisit } from './browser.ts'

const visit = suiteVisit()
let flagId: number
beforeAll(async () => {
  const { scenario } = visit
  const condition = { metric: { event: 'checkout_failed' }, operator: 'gt', threshold: 20, window_minutes: 120 }
  const rollout = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })
  const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
    key: 'new-checkout',
    filters: rollout(5),
    rollback_conditions: { conditions: [condition] },
  })
  flagId = flag.id
  await scenario.patch(`${scenario.project}/feature_flags/${flagId}/`, { filters: rollout(25) })
  const send = (event: string, n: number, properties: object) => ({
    event,
    distinct_id: `user-${n}`,
    timestamp: new Date(Date.now() - n * 3_600_000).toISOString(),
    properties,
  })
  const batch = Array.from({ length: 24 }, (_, n) => [
    send('$feature_flag_called', n, { $feature_flag: 'new-checkout', $feature_flag_response: n % 3 === 0 }),
    send('checkout_failed', n, { '$feature/new-checkout': n % 3 === 0 }),
    ...(n % 2 === 0 ? [send('order_completed', n, { '$feature/new-checkout': n % 3 === 0 })] : []),
  ]).flat()
  await scenario.post('/batch/', { api_key: scenario.projectToken, batch })
  const counted = async () => {
    const range = `date_from=${new Date(Date.now() - 86_400_000).toISOString()}&date_to=${new Date().toISOString()}`
    return (await scenario.get(`${scenario.project}/feature_flags/${flagId}/event_counts/?${range}`)).body.events
  }
  await vi.waitUntil(async () => (await counted()).length === 2, { timeout: 60_000 })
}, 120_000)

describe('charts by value', { timeout: 240_000 }, () => {
  it('show evaluations and events of a flag with its rollout and thresholds, in light and dark, wide and narrow', async () => {
    const path = `/project/${visit.scenario.projectId}/flags/${flagId}?tab=usage`
    for (const options of [{}, { dark: true, locale: 'de-DE' }, { width: 390 }]) {
      const page = await visit.signedIn(path, options)
      await page
        .getByRole('img', { name: /per day|pro Tag/ })
        .first()
        .waitFor()
      await page.getByRole('img', { name: /per hour|pro Stunde/ }).waitFor()
      await expectSound(page)
    }
    const page = await visit.signedIn(path)
    const events = page.getByRole('region', { name: 'Events by value' })
    // What the rollback condition counts comes first.
    await expect.poll(() => events.getByRole('combobox', { name: 'Event' }).inputValue()).toBe('checkout_failed')
    await events.getByText('Owner changed the rollout: 5% → 25%').waitFor()
    await events.getByText('drawn as 10 per hour').waitFor()
    await events.getByText('24 in total').waitFor()
    await events.getByRole('combobox', { name: 'Event' }).selectOption('order_completed')
    await events.getByText('12 in total').waitFor()
    await events.getByText('drawn as').waitFor({ state: 'detached' })
    await events.getByRole('button', { name: 'Show as table' }).click()
    await events.getByRole('row', { name: /^Total 8 4/ }).waitFor()
    await expectSound(page)
  })

  it('stand on the page of a change request while it is open', async () => {
    const { scenario } = visit
    const { body: request } = await scenario.post(`${scenario.project}/change_requests/`, {
      flag_id: flagId,
      patch: { name: 'More' },
      title: 'More people',
      apply_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const page = await visit.signedIn(`/project/${scenario.projectId}/requests/${request.id}`)
    await page.getByRole('region', { name: 'Evaluations by value' }).getByRole('img').waitFor()
    await page.getByRole('region', { name: 'Events by value' }).getByRole('img').waitFor()
    await expectSound(page)
  })
})
