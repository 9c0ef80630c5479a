import { describe, expect, it } from 'vitest'
import { moved, positionIn, readTimeSearch, windowAround } from './time-window.ts'

const noon = '2026-03-01T12:00:00.000Z'

describe('the time of the changes page', () => {
  it('is read from the address to the minute, and ignored when it is none', () => {
    expect(readTimeSearch({ at: '2026-03-01T12:00:31.123Z' })).toEqual({ at: noon })
    for (const at of ['yesterday', 5, null, undefined]) expect(readTimeSearch({ at })).toEqual({})
  })

  it('has an hour before and an hour after it', () => {
    const window = windowAround(noon)
    expect(window).toEqual({ from: '2026-03-01T11:00:00.000Z', to: '2026-03-01T13:00:00.000Z' })
    expect(positionIn(window, '2026-03-01T11:30:00Z')).toBe(0.25)
    expect(moved(noon, -90)).toBe('2026-03-01T10:30:00.000Z')
  })
})
