import { expect, it } from 'vitest'
import { type Instant, plusMilliseconds } from '../instant.ts'
import { onEachDatabase } from '../testing/databases.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'
import { createJobRunner, type Job, type JobContext, type JobRunner, LeaseLost } from './job-runner.ts'

const start: Instant = '2026-03-01T12:00:00.000000Z'
const minute = 60_000

onEachDatabase('jobs', dialect => {
  const s = suiteScenario(dialect)

  const errors: unknown[] = []
  const runner = (node: string, run: Job['run'], name = node): JobRunner =>
    createJobRunner({
      database: s.halyard.database,
      node,
      jobs: [{ name, run }],
      now: () => start,
      everyMilliseconds: 0,
      onError: (_, error) => errors.push(error),
    })

  it('runs a job on one of many nodes, and on another once the first is gone', async () => {
    const done: string[] = []
    const nodes = Array.from({ length: 8 }, (_, n) =>
      runner(`once-${n}`, async () => void done.push(`once-${n}`), 'once'),
    )
    await Promise.all(nodes.map(node => node.runDue(start)))
    expect(done).toHaveLength(1)
    const [holder] = done
    await Promise.all(nodes.map(node => node.runDue(plusMilliseconds(start, minute / 2))))
    expect(done).toEqual([holder, holder])
    await nodes[Number(holder?.split('-')[1])]?.close()
    await Promise.all(nodes.map(node => node.runDue(plusMilliseconds(start, minute / 2))))
    expect(done).toHaveLength(3)
  })

  it('fails over to another node when the lease is not renewed for a minute', async () => {
    const done: string[] = []
    const first = runner('silent-1', async () => void done.push('first'), 'silent')
    const second = runner('silent-2', async () => void done.push('second'), 'silent')
    await first.runDue(start)
    await second.runDue(plusMilliseconds(start, minute - 1))
    await second.runDue(plusMilliseconds(start, minute))
    await first.runDue(plusMilliseconds(start, minute + 1))
    expect(done).toEqual(['first', 'second'])
  })

  it('writes nothing for a node that lost its lease during the run', async () => {
    let late: JobContext | undefined
    await runner(
      'late-1',
      async context => {
        late = context
      },
      'late',
    ).runDue(start)
    await runner('late-2', async () => {}, 'late').runDue(plusMilliseconds(start, 2 * minute))
    const write = late?.transaction(tx => tx.leases.acquire('proof', 'late-1', start, start))
    await expect(write).rejects.toBeInstanceOf(LeaseLost)
    const proof = await s.halyard.storage.kysely
      .selectFrom('leases')
      .select('name')
      .where('name', '=', 'proof')
      .execute()
    expect(proof).toEqual([])
  })

  it('runs a job sequentially on a node, coalesces requests during a run, and reports errors', async () => {
    const times: Instant[] = []
    const finish: (() => void)[] = []
    const busy = runner('busy', ({ now }) => {
      times.push(now)
      return new Promise<void>(resolve => finish.push(resolve))
    })
    const asked = [start, plusMilliseconds(start, 1), plusMilliseconds(start, 2)]
    const done = asked.map(now => busy.runDue(now))
    await expect.poll(() => times).toEqual([start])
    finish[0]!()
    await expect.poll(() => times).toEqual([start, plusMilliseconds(start, 2)])
    finish[1]!()
    await Promise.all(done)
    expect(times).toHaveLength(2)
    await runner('throws', () => Promise.reject(new Error('no'))).runDue(start)
    expect(errors).toEqual([new Error('no')])
    errors.length = 0
  })
})
