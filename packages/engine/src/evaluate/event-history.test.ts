import { describe, expect, it, test } from 'vitest'
import { checkCohort, compile, type Definitions, type Subject } from '../index.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2026-03-20T00:00:00Z')
const today = now / 86_400_000
const paid = { type: 'behavioral', event_type: 'events', key: 'paid', value: 'performed_event', time_interval: 'day' }
const multiple = { ...paid, value: 'performed_event_multiple', time_value: 7 }
const first = { ...paid, value: 'performed_event_first_time', time_value: 7 }

const definitions = (filter: object, type = 'AND', ...others: object[]): Definitions => ({
  flags: [
    {
      id: 1,
      key: 'flag',
      active: true,
      filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: 1 }] }] },
    },
  ],
  cohorts: [{ id: 1, isStatic: false, filters: { properties: { type, values: [filter, ...others] } } }],
  groupTypes: {},
  propertyMatchingVersion: 2,
})

function isOn(filter: object, days: readonly (readonly [ago: number, count: number])[], at = now): boolean {
  const events: NonNullable<Subject['events']> =
    days.length === 0
      ? {}
      : {
          paid: {
            firstDay: today - Math.max(...days.map(([ago]) => ago)),
            days: days.map(([ago, count]) => [today - ago, count]),
          },
        }
  const snapshot = compile(definitions(filter), options)
  return snapshot.evaluate({ distinctId: 'ada', events }, { now: at }).get('flag')!.enabled
}

describe('a behavioral filter', () => {
  it('counts the last calendar days in UTC, today included', () => {
    const within3 = { ...paid, time_value: 3 }
    expect(isOn(within3, [[2, 1]])).toBe(true)
    expect(isOn(within3, [[3, 1]])).toBe(false)
    // A second before midnight the day is still among the last three.
    expect(isOn(within3, [[3, 1]], now - 1000)).toBe(true)
    expect(isOn({ ...paid, time_value: 1 }, [[0, 1]])).toBe(true)
    expect(isOn({ ...paid, time_value: 1, time_interval: 'week' }, [[6, 1]])).toBe(true)
    expect(isOn({ ...paid, time_value: 1, time_interval: 'month' }, [[30, 1]])).toBe(false)
    expect(isOn({ ...paid, time_interval: null, explicit_datetime: '-3d' }, [[2, 1]])).toBe(true)
  })

  test.each([
    ['gte', 3, [2, 3, 4], [false, true, true]],
    ['gt', 3, [3, 4], [false, true]],
    ['lte', 1, [0, 1, 2], [true, true, false]],
    ['lt', 1, [0, 1], [true, false]],
    ['exact', 2, [1, 2, 3], [false, true, false]],
    ['eq', '2', [2], [true]],
  ])('compares with %s %s', (operator, operator_value, counts, expected) => {
    const filter = { ...multiple, operator, operator_value }
    const seen = counts.map(count =>
      isOn(filter, count === 0 ? [] : [[0, 1], ...(count > 1 ? [[5, count - 1] as const] : [])]),
    )
    expect(seen).toEqual(expected)
  })

  it('matches who performed the event for the first time in the window', () => {
    expect(isOn(first, [[6, 1]])).toBe(true)
    expect(
      isOn(first, [
        [6, 1],
        [7, 1],
      ]),
    ).toBe(false)
    expect(isOn(first, [])).toBe(false)
  })

  it('is negated for people who did not', () => {
    expect(isOn({ ...paid, time_value: 3, negation: true }, [])).toBe(true)
    expect(isOn({ ...paid, time_value: 3, negation: true }, [[1, 1]])).toBe(false)
  })

  it('needs the histories of its events, and has the result explained', () => {
    const snapshot = compile(definitions({ ...multiple, operator: 'gte', operator_value: 2 }), options)
    expect([...snapshot.requirements.events]).toEqual(['paid'])
    expect(snapshot.requirements.eventDays).toBe(7)
    const events = { paid: { firstDay: today, days: [[today, 3]] as const } }
    const trace = snapshot.explain({ distinctId: 'ada', events }, { key: 'flag', now })!
    expect(trace.conditions[0]!.filters[0]).toMatchObject({
      kind: 'cohort',
      matched: true,
      certain: false,
      tree: { members: [{ kind: 'behavior', event: 'paid', seen: 3, count: 2, operator: 'gte', days: 7 }] },
    })
  })

  it('leaves the whole cohort to the server, also where another filter decides', () => {
    const pro = { key: 'plan', type: 'person', value: 'pro' }
    const snapshot = compile(definitions({ ...paid, time_value: 1 }, 'OR', pro), options)
    const trace = snapshot.explain({ distinctId: 'ada', personProperties: { plan: 'pro' } }, { key: 'flag', now })!
    expect(trace.conditions[0]!.filters[0]).toMatchObject({ matched: true, certain: false })
  })
})

describe('checking a behavioral filter', () => {
  const at = 'filters.properties.values[0]'
  const check = (filter: object) => {
    const { cohorts, ...others } = definitions(filter)
    return checkCohort(cohorts[0]!, { ...others, flags: [], cohorts: [] }, options).map(
      ({ code, path }) => `${code} ${path}`,
    )
  }

  it('accepts what is supported, with empty fields of PostHog', () => {
    const empty = { event_filters: [], seq_event: null, bytecode: ['_H'], explicit_datetime_to: null }
    expect(check({ ...paid, time_value: '30', ...empty })).toEqual([])
    expect(check({ ...paid, time_value: 366 })).toEqual([])
  })

  test.each([
    ['a missing event', { key: '' }, `invalid_value ${at}.key`],
    ['an action', { event_type: 'actions', key: '7' }, `invalid_value ${at}.event_type`],
    ['filters on properties', { event_filters: [{ key: 'amount' }] }, `invalid_value ${at}.event_filters`],
    ['a sequence', { seq_event: 'left', seq_time_value: 1 }, `invalid_value ${at}.seq_event`],
    ['an unsupported kind', { value: 'stopped_performing_event' }, `invalid_value ${at}.value`],
    ['hours', { time_interval: 'hour' }, `invalid_value ${at}.time_interval`],
    ['a long window', { time_value: 367 }, `out_of_range ${at}.time_value`],
    ['no window', { time_value: undefined }, `out_of_range ${at}.time_value`],
    ['an absolute date', { explicit_datetime: '2026-01-01' }, `out_of_range ${at}.explicit_datetime`],
    ['an end', { explicit_datetime_to: '-1d' }, `invalid_value ${at}.explicit_datetime_to`],
    ['no operator', { value: 'performed_event_multiple', operator_value: 1 }, `wrong_operator ${at}.operator`],
    [
      'a fraction',
      { value: 'performed_event_multiple', operator: 'gte', operator_value: 1.5 },
      `out_of_range ${at}.operator_value`,
    ],
    ['inverted', { inverted: true }, `invalid_value ${at}.inverted`],
  ])('refuses %s', (_title, change, expected) => {
    expect(check({ ...paid, time_value: 1, ...change })).toContain(expected)
  })
})
