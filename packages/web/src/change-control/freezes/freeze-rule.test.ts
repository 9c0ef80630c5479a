import { describe, expect, it } from 'vitest'
import { readWeeklyRule, weekdayName, writeWeeklyRule } from './freeze-rule.ts'

describe('a weekly freeze', () => {
  it('is written as a rule with sorted days and read again', () => {
    const rule = writeWeeklyRule({ days: ['SA', 'FR'], time: '16:05' })
    expect(rule).toBe('FREQ=WEEKLY;BYDAY=FR,SA;BYHOUR=16;BYMINUTE=5')
    expect(readWeeklyRule(rule)).toEqual({ days: ['FR', 'SA'], time: '16:05' })
  })

  it.each([
    'FREQ=DAILY;BYHOUR=1;BYMINUTE=0',
    'FREQ=WEEKLY;BYDAY=FR;BYHOUR=16;BYMINUTE=0;INTERVAL=2',
    'FREQ=WEEKLY;BYDAY=1FR;BYHOUR=16;BYMINUTE=0',
    'FREQ=WEEKLY;BYDAY=FR;BYHOUR=9,17;BYMINUTE=0',
    'nonsense',
  ])('does not read %s', rule => {
    expect(readWeeklyRule(rule)).toBeUndefined()
  })

  it('names the days as the language does', () => {
    expect(weekdayName('MO', 'en', 'short')).toBe('Mon')
    expect(weekdayName('SU', 'de', 'long')).toBe('Sonntag')
  })
})
