import { describe, expect, it } from 'vitest'
import { rangeAt, withinCount } from './row-range.ts'

const at = (top: number, overscan = 0) => rangeAt({ top, height: 300, rowPixels: 60, overscan })

describe('the rendered rows of a long list', () => {
  it('are those in view, also the ones in view in part', () => {
    expect(at(0)).toEqual({ first: 0, last: 4 })
    expect(at(59)).toEqual({ first: 0, last: 5 })
    expect(at(60)).toEqual({ first: 1, last: 5 })
    expect(at(599_970)).toEqual({ first: 9999, last: 10_004 })
  })

  it('include some beyond, but none before the first', () => {
    expect(at(600, 6)).toEqual({ first: 4, last: 20 })
    expect(at(120, 6)).toEqual({ first: 0, last: 12 })
  })

  it('move up with the end of a list that has become shorter', () => {
    expect(withinCount({ first: 90, last: 99 }, 1000)).toEqual({ first: 90, last: 99 })
    expect(withinCount({ first: 90, last: 99 }, 50)).toEqual({ first: 40, last: 49 })
    expect(withinCount({ first: 90, last: 99 }, 3)).toEqual({ first: 0, last: 2 })
    expect(withinCount({ first: 0, last: 9 }, 0)).toEqual({ first: 0, last: -1 })
  })
})
