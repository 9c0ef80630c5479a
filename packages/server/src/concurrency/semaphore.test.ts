import { expect, it } from 'vitest'
import { Mutex } from './mutex.ts'
import { Semaphore } from './semaphore.ts'

it('runs as many as there are permits, the others in the order of arrival', async () => {
  const semaphore = new Semaphore({ permits: 2 })
  const started: number[] = []
  const ends: (() => void)[] = []
  const all = [0, 1, 2, 3].map(n =>
    semaphore.run(async () => {
      started.push(n)
      await new Promise<void>(resolve => {
        ends[n] = resolve
      })
    }),
  )
  await expect.poll(() => started).toEqual([0, 1])
  ends[1]!()
  await expect.poll(() => started).toEqual([0, 1, 2])
  ends[2]!()
  await expect.poll(() => started).toEqual([0, 1, 2, 3])
  ends[0]!()
  ends[3]!()
  await Promise.all(all)
})

it('rejects when its queue is full, and when the wait is too long', async () => {
  const semaphore = new Semaphore({ permits: 1, queueMax: 1, waitMillisecondsMax: 5, message: 'Busy.' })
  const release = await semaphore.acquire()
  const waiting = semaphore.acquire()
  const problem = { kind: 'unavailable', message: 'Busy.', retryAfterSeconds: 1 }
  await expect(semaphore.acquire()).rejects.toMatchObject(problem)
  await expect(waiting).rejects.toMatchObject(problem)
  release()
  release()
  const again = await semaphore.acquire()
  await expect(semaphore.acquire()).rejects.toMatchObject(problem)
  again()
})

it('a mutex hands over in the order of arrival, also after a failure', async () => {
  const mutex = new Mutex()
  const order: string[] = []
  const results = await Promise.allSettled([
    mutex.run(async () => {
      await Promise.resolve()
      order.push('first')
      throw new Error('no')
    }),
    mutex.run(async () => void order.push('second')),
    mutex.run(async () => void order.push('third')),
  ])
  expect(order).toEqual(['first', 'second', 'third'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(mutex.isLocked).toBe(false)
})
