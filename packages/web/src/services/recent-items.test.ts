import { describe, expect, it } from 'vitest'
import { readRecent, recordRecent } from './recent-items.ts'

function memory(initial?: string) {
  let text = initial ?? null
  return {
    getItem: () => text,
    setItem: (_name: string, value: string) => {
      text = value
    },
  }
}
const flag = (n: number) => ({ path: `/project/1/flags/${n}`, label: `flag-${n}`, kind: 'flag' as const })

describe('recent items', () => {
  it('are listed newest first, each once, and limited', () => {
    const storage = memory()
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 2]) recordRecent(storage, flag(n))
    expect(readRecent(storage).map(({ label }) => label)).toEqual([
      'flag-2',
      'flag-9',
      'flag-8',
      'flag-7',
      'flag-6',
      'flag-5',
      'flag-4',
      'flag-3',
    ])
  })

  it('ignore broken storage and foreign addresses', () => {
    expect(readRecent(memory('{'))).toEqual([])
    expect(readRecent(memory('[{"path":"//evil.example","label":"x","kind":"flag"}]'))).toEqual([])
    expect(readRecent(memory('[{"path":"/a","label":"x","kind":"other"}]'))).toEqual([])
  })
})
