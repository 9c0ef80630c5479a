import { bulkFlagsMax, type Flag } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../api/client.ts'
import { sampleFlag } from '../../testing/sample-flag.ts'
import { changing, eachOf, opposite } from './bulk-change.ts'

const flags = (count: number): Flag[] => Array.from({ length: count }, (_, index) => sampleFlag({ id: index + 1 }))
const run = (onProgress: (done: number) => void = () => {}) => ({ signal: new AbortController().signal, onProgress })

describe('a bulk change', () => {
  it('sends as many flags per request as the server accepts', async () => {
    const sizes: number[] = []
    const call = (async (_route: unknown, { body }: { body: { ids: number[] } }) => {
      sizes.push(body.ids.length)
      return { updated: body.ids.map(id => ({ id, active: false })), errors: [] }
    }) as unknown as Call
    const progress: number[] = []
    const outcome = await changing(call, '1', { active: false })(
      flags(bulkFlagsMax + 2),
      run(done => progress.push(done)),
    )
    expect(sizes).toEqual([bulkFlagsMax, 2])
    expect(progress).toEqual([0, bulkFlagsMax])
    expect(outcome.changed).toHaveLength(bulkFlagsMax + 2)
    expect(outcome.changed[0]).toMatchObject({ before: { active: true }, after: { active: false } })
  })

  it('names the flags that failed, and the requests that were opened', async () => {
    const errors = [
      { id: 1, reason: 'Needs approval.', change_request: 7 },
      { id: 2, reason: 'Not allowed.' },
    ]
    const call = (async () => ({ updated: [], errors })) as unknown as Call
    const outcome = await changing(call, '1', { active: true })(flags(2), run())
    expect(outcome).toEqual({
      changed: [],
      failures: [
        { id: 1, key: 'flag-1', reason: 'Needs approval.', request: 7 },
        { id: 2, key: 'flag-2', reason: 'Not allowed.' },
      ],
    })
  })

  it('without a bulk endpoint continues after a failure', async () => {
    const job = eachOf(
      async flag => {
        if (flag.id === 2) throw new Error('no')
        return { ...flag, deleted: false }
      },
      error => (error as Error).message,
    )
    const outcome = await job(flags(3), run())
    expect(outcome.changed.map(({ after }) => after.id).sort()).toEqual([1, 3])
    expect(outcome.failures).toEqual([{ id: 2, key: 'flag-2', reason: 'no' }])
  })

  it('is undone only for the flags that it changed', () => {
    const [on, off] = [sampleFlag({ id: 1 }), sampleFlag({ id: 2, active: false })]
    const changed = [on, off].map(before => ({ before, after: { ...before, active: false } }))
    expect(opposite({ active: false }, { changed, failures: [] })).toMatchObject({
      change: { active: true },
      flags: [{ id: 1 }],
    })
    const tagged = [{ before: on, after: { ...on, tags: ['x'] } }]
    expect(opposite({ tags: ['x'], tags_action: 'add' }, { changed: tagged, failures: [] })).toMatchObject({
      change: { tags: ['x'], tags_action: 'remove' },
      flags: [{ id: 1 }],
    })
    expect(opposite({ deleted: true }, { changed, failures: [] })).toBeUndefined()
  })
})
