import { expect, test } from 'vitest'
import { createPluginHost } from './plugin-host.ts'
import { createRecordingServices } from './services/recording-services.ts'

/** How many calls of a host function succeed before the budget of one plugin call is spent. */
async function countUntilSpent(host: ReturnType<typeof createPluginHost>, name: string, args: unknown[]) {
  for (let calls = 0; ; calls += 1) {
    const reason: unknown = await host.call(name, args).then(
      () => undefined,
      error => error.message,
    )
    if (reason !== undefined) return { calls, reason }
  }
}

const reason = 'This call has used up its work on the host.'

test('searching a list costs its length, so that fewer searches fit into one call', async () => {
  const services = createRecordingServices()
  const host = createPluginHost(services)
  const items = Array.from({ length: 900 }, (_, n) => n)
  services.cache.lpush('long', items)
  expect(await countUntilSpent(host, 'cache.lrem', ['long', 0, 'absent'])).toEqual({ calls: 526, reason })
  host.callStarted?.()
  expect(await countUntilSpent(host, 'cache.lrem', ['empty', 0, 'absent'])).toEqual({ calls: 10_000, reason })
})

test('one call captures at most 500 events, and the next call has a new budget', async () => {
  const services = createRecordingServices()
  const host = createPluginHost(services)
  expect(await countUntilSpent(host, 'posthog.capture', ['e', {}])).toEqual({ calls: 500, reason })
  expect(services.captured).toHaveLength(500)
  await expect(host.call('cache.get', ['k'])).rejects.toThrow(reason)
  host.callStarted?.()
  expect(await host.call('cache.get', ['k'])).toBeNull()
})
