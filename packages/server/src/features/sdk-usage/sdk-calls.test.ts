import { expect, it, vi } from 'vitest'
import { createSdkCalls, readUserAgent } from './sdk-calls.ts'

it.each([
  ['posthog-node/5.6.0', undefined, 'posthog-node', '5.6.0'],
  ['posthog-python/3.1.0 (linux)', undefined, 'posthog-python', '3.1.0'],
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/130', '1.434.18', 'posthog-js', '1.434.18'],
  ['Mozilla/5.0', undefined, 'posthog-js', ''],
  ['curl/8.5.0', undefined, 'curl', '8.5.0'],
  ['node', undefined, 'node', ''],
  ['\u0000<script>', undefined, 'unknown', ''],
])('reads %s', (agent, ver, library, version) => {
  expect(readUserAgent(agent, ver)).toEqual({ library, version })
})

it('sums the calls of an SDK until they are drained, and reports a new one once', () => {
  const calls = createSdkCalls()
  const onNew = vi.fn()
  calls.onNew(onNew)
  calls.note(1, { 'user-agent': 'posthog-node/5.6.0' })
  calls.note(1, { 'user-agent': 'posthog-node/5.6.0' })
  calls.noteLibrary(1, 'posthog-node', '5.6.0')
  calls.noteLibrary(2, 'web', '1.2.3')
  calls.note(2, {})
  calls.note(2, { 'user-agent': 'kube-probe/1.30' })
  expect(onNew).toHaveBeenCalledTimes(2)
  expect(calls.drain()).toEqual([
    { projectId: 1, library: 'posthog-node', version: '5.6.0', calls: 3 },
    { projectId: 2, library: 'posthog-js', version: '1.2.3', calls: 1 },
  ])
  expect(calls.drain()).toEqual([])
})

it('counts a bounded number of user agents, and new ones after a drain', () => {
  const calls = createSdkCalls()
  for (let n = 0; n < 200; n += 1) calls.note(1, { 'user-agent': `posthog-${n}/1` })
  expect(calls.drain()).toHaveLength(100)
  calls.note(1, { 'user-agent': 'posthog-late/1' })
  expect(calls.drain()).toEqual([{ projectId: 1, library: 'posthog-late', version: '1', calls: 1 }])
})
