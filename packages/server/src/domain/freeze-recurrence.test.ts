import { describe, expect, it } from 'vitest'
import { checkRule, fromLocalTime, occurrenceAround } from './freeze-recurrence.ts'

const at = (text: string) => new Date(text)
const around = (rrule: string, durationMinutes: number, now: string, timeZone = 'Europe/Berlin') => {
  const { current, next } = occurrenceAround({ rrule, durationMinutes, timeZone }, at(now))
  return { from: current?.start.toISOString(), to: current?.end.toISOString(), next: next?.toISOString() }
}

describe('a recurring freeze', () => {
  const weekend = 'FREQ=WEEKLY;BYDAY=FR;BYHOUR=16;BYMINUTE=0'

  it('starts and ends at the same local time in summer and in winter', () => {
    expect(around(weekend, 60, '2026-07-03T14:30:00Z')).toMatchObject({ from: '2026-07-03T14:00:00.000Z' })
    expect(around(weekend, 60, '2026-12-04T15:30:00Z')).toMatchObject({ from: '2026-12-04T15:00:00.000Z' })
    expect(around(weekend, 60, '2026-12-04T14:30:00Z')).toEqual({ next: '2026-12-04T15:00:00.000Z' })
  })

  it('keeps its local end when the clocks change meanwhile', () => {
    // Clocks go forward on 29 March and back on 25 October: until Monday 8:00 local time either way.
    const untilMonday = 64 * 60
    expect(around(weekend, untilMonday, '2026-03-29T12:00:00Z')).toMatchObject({
      from: '2026-03-27T15:00:00.000Z',
      to: '2026-03-30T06:00:00.000Z',
    })
    expect(around(weekend, untilMonday, '2026-10-25T12:00:00Z')).toMatchObject({
      from: '2026-10-23T14:00:00.000Z',
      to: '2026-10-26T07:00:00.000Z',
    })
  })

  it('is over at its end, and knows the next start', () => {
    expect(around(weekend, 60, '2026-07-03T15:00:00Z')).toEqual({ next: '2026-07-10T14:00:00.000Z' })
    expect(around('FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=20', 10 * 24 * 60, '2027-12-24T00:00:00Z', 'UTC')).toEqual({
      from: '2027-12-20T00:00:00.000Z',
      to: '2027-12-30T00:00:00.000Z',
      next: '2028-12-20T00:00:00.000Z',
    })
  })

  it('maps local times that are skipped or repeated', () => {
    expect(fromLocalTime(at('2026-03-29T02:30:00Z'), 'Europe/Berlin').toISOString()).toBe('2026-03-29T01:30:00.000Z')
    expect(fromLocalTime(at('2026-10-25T02:30:00Z'), 'Europe/Berlin').toISOString()).toBe('2026-10-25T00:30:00.000Z')
  })

  it.each([
    '',
    'FREQ=SECONDLY',
    'FREQ=MINUTELY',
    'FREQ=HOURLY',
    'FREQ=DAILY;BYSECOND=1',
    'DAILY',
    'FREQ=DAILY;X=1',
    'FREQ=WEEKLY;BYDAY=XX',
  ])('refuses %j', rule => {
    expect(() => checkRule(rule)).toThrow(expect.objectContaining({ field: 'rrule' }))
  })
})
