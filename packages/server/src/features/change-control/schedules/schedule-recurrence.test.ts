import { describe, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { nextCronTime, parseCron } from './cron.ts'
import { lastRun, nextRun, type ScheduleRecurrence } from './schedule-recurrence.ts'

const at = (text: string) => instantOf(new Date(text))
const rule = (more: Partial<ScheduleRecurrence>): ScheduleRecurrence => ({
  isRecurring: true,
  interval: null,
  cron: null,
  timeZone: 'Europe/Berlin',
  firstAt: null,
  endDate: null,
  ...more,
})
const runs = (recurrence: ScheduleRecurrence, from: string, count: number) => {
  const found: string[] = []
  for (let last = at(from); found.length < count; ) {
    const next = nextRun(recurrence, last)
    if (next === undefined) break
    last = next
    found.push(next.slice(0, 16))
  }
  return found
}

describe('a cron expression', () => {
  it.each([
    ['0 9 * * 1-5', '2026-03-27T08:30:00Z', ['2026-03-30T07:00', '2026-03-31T07:00']],
    // The clocks go forward on March 29: 02:30 does not exist that day.
    ['30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    // The clocks go back on October 25: 02:30 exists twice, and counts once.
    ['30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['*/30 8-9 * * mon', '2026-06-01T05:59:00Z', ['2026-06-01T06:00', '2026-06-01T06:30', '2026-06-01T07:00']],
    ['0 0 13 * fri', '2026-06-10T00:00:00Z', ['2026-06-11T22:00', '2026-06-12T22:00']],
    ['0 12 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T11:00']],
  ])('%s after %s', (cron, from, expected) => {
    expect(runs(rule({ cron }), from, expected.length)).toEqual(expected)
  })

  it.each(['', '* * * *', '60 * * * *', '0 9 * * 8', '0 9 31-1 * *', '0 9 * * x', '*/0 * * * *', '@daily'])(
    'is not %j',
    text => expect(parseCron(text)).toBeUndefined(),
  )

  it('has no time on February 30', () => {
    expect(nextCronTime(parseCron('0 0 30 2 *')!, new Date('2026-01-01T00:00:00Z'), 'UTC')).toBeUndefined()
  })
})

describe('an interval', () => {
  it('keeps the local time and the day of the month', () => {
    const daily = rule({ interval: 'daily', firstAt: at('2026-03-27T08:00:00Z') })
    expect(runs(daily, '2026-03-28T08:00:00Z', 2)).toEqual(['2026-03-29T07:00', '2026-03-30T07:00'])
    const monthly = rule({ interval: 'monthly', firstAt: at('2026-01-31T08:00:00Z') })
    expect(runs(monthly, '2026-01-31T08:00:00Z', 3)).toEqual([
      '2026-02-28T08:00',
      '2026-03-31T07:00',
      '2026-04-30T07:00',
    ])
    const weekly = rule({
      interval: 'weekly',
      firstAt: at('2026-01-05T08:00:00Z'),
      endDate: at('2026-01-20T00:00:00Z'),
    })
    expect(runs(weekly, '2026-01-01T00:00:00Z', 9)).toEqual([
      '2026-01-05T08:00',
      '2026-01-12T08:00',
      '2026-01-19T08:00',
    ])
    const yearly = rule({ interval: 'yearly', firstAt: at('2024-02-29T08:00:00Z') })
    expect(runs(yearly, '2024-03-01T00:00:00Z', 1)).toEqual(['2025-02-28T08:00'])
  })

  it('has one last run up to now, however many were missed', () => {
    const cron = rule({ cron: '0 9 * * 1-5' })
    const from = at('2026-01-05T08:00:00Z')
    expect(lastRun(cron, from, at('2026-01-05T08:00:00Z'))).toBe(from)
    expect(lastRun(cron, from, at('2026-01-11T12:00:00Z'))).toBe(at('2026-01-09T08:00:00Z'))
    expect(lastRun(cron, from, at('2027-01-11T12:00:00Z'))).toBe(at('2027-01-11T08:00:00Z'))
    const yearly = rule({ interval: 'yearly', firstAt: from })
    expect(lastRun(yearly, from, at('2027-01-01T00:00:00Z'))).toBe(from)
  })
})
