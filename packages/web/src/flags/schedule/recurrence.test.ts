import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { isPaused, onlyOnce, recurrenceSentence, repeatToWire } from './recurrence.ts'

const at = '2026-03-02T09:00'
const utc = (local: string) => new Date(local).toISOString()
const day = (instant: string) => instant.slice(0, 10)

describe('a switch that repeats', () => {
  it('is sent once, with the time at which it is reverted', () => {
    expect(repeatToWire(at, onlyOnce, 'UTC')).toEqual({ scheduled_at: utc(at) })
    expect(repeatToWire(at, { ...onlyOnce, revert: '2026-03-02T17:00' }, 'UTC')).toEqual({
      scheduled_at: utc(at),
      pair: { scheduled_at: utc('2026-03-02T17:00') },
    })
  })

  it('is sent with its interval, and reverted the next day when that time is earlier', () => {
    const daily = { repeat: 'daily', revert: '17:00', lastDay: '2026-03-31' } as const
    expect(repeatToWire(at, daily, 'Europe/Berlin')).toEqual({
      scheduled_at: utc(at),
      is_recurring: true,
      recurrence_interval: 'daily',
      timezone: 'Europe/Berlin',
      end_date: utc('2026-03-31T23:59:59'),
      pair: { scheduled_at: utc('2026-03-02T17:00') },
    })
    expect(repeatToWire(at, { ...daily, revert: '08:00' }, 'UTC')).toMatchObject({
      pair: { scheduled_at: utc('2026-03-03T08:00') },
    })
  })

  it('is sent as a cron expression for working days', () => {
    expect(repeatToWire(at, { repeat: 'workdays', revert: '17:30', lastDay: '' }, 'UTC')).toEqual({
      is_recurring: true,
      timezone: 'UTC',
      cron_expression: '0 9 * * 1-5',
      pair: { cron_expression: '30 17 * * 1-5' },
    })
  })

  it('is put into words', () => {
    const sentence = (change: object) => recurrenceSentence(change, en, day)
    expect(sentence({})).toBeUndefined()
    expect(sentence({ recurrence_interval: 'daily', end_date: '2026-03-31T00:00:00Z' })).toBe('Daily until 2026-03-31')
    expect(sentence({ cron_expression: '5 9 * * 1-5', timezone: 'UTC' })).toBe('Every working day at 09:05 (UTC)')
    expect(sentence({ cron_expression: '0 0 1 * *', timezone: 'UTC' })).toBe('0 0 1 * * (UTC)')
    expect(isPaused({ is_recurring: false, cron_expression: '0 9 * * *' })).toBe(true)
    expect(isPaused({ is_recurring: false, recurrence_interval: null, cron_expression: null })).toBe(false)
  })
})
