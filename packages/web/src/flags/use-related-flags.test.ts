import type { Flag } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../api/problem.ts'
import { sampleFlag } from '../testing/sample-flag.ts'
import { readRelated } from './use-related-flags.ts'

const dependingOn = (id: number, ...ids: number[]): Flag =>
  sampleFlag({
    id,
    filters: {
      groups: [
        {
          properties: ids.map(key => ({ key: String(key), type: 'flag', operator: 'flag_evaluates_to', value: true })),
        },
      ],
    },
  })
const all = [dependingOn(1, 2), dependingOn(2, 3), dependingOn(3, 1)]
const read = async (id: string) => {
  const flag = all.find(each => String(each.id) === id)
  if (!flag) throw new ApiProblem(404, {})
  return flag
}

describe('the flags that a flag depends on', () => {
  it('are read through others, each once, also in a cycle', async () => {
    const asked: string[] = []
    const related = await readRelated(['2'], id => {
      asked.push(id)
      return read(id)
    })
    expect(related.map(({ id }) => id)).toEqual([2, 3, 1])
    expect(asked).toEqual(['2', '3', '1'])
  })

  it('may be missing', async () => {
    expect(await readRelated(['9', '3'], read)).toHaveLength(3)
    expect(await readRelated([], read)).toEqual([])
  })

  it('are not silently left out when the server fails', async () => {
    await expect(readRelated(['1'], () => Promise.reject(new ApiProblem(500, {})))).rejects.toThrow()
  })
})
