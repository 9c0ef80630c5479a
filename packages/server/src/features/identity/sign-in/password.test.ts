import { createHook } from 'node:async_hooks'
import { expect, it } from 'vitest'
import { createPasswords } from './password.ts'

it('derives at most two keys at once, so that other users of the thread pool are served', async () => {
  const passwords = createPasswords(14)
  const running = new Set<number>()
  let most = 0
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return
      running.add(id)
      most = Math.max(most, running.size)
    },
    // The job is done when its callback starts.
    before: id => void running.delete(id),
  }).enable()
  try {
    const hashes = await Promise.all(Array.from({ length: 6 }, (_, n) => passwords.hash(`password ${n}`)))
    const checks = await Promise.all(hashes.map((hash, n) => passwords.verify(`password ${n % 2}`, hash)))
    expect(checks).toEqual([true, true, false, false, false, false])
  } finally {
    hook.disable()
  }
  expect(most).toBe(2)
}, 60_000)
