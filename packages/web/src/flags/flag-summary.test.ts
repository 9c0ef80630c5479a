import type { Flag } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { de } from '../i18n/de.ts'
import { en } from '../i18n/en.ts'
import { formatsOf } from '../i18n/formats.ts'
import { sampleFlag } from '../testing/sample-flag.ts'
import { readFilters } from './filters.ts'
import { conditionSentence, filterLines, propertySentence, valueText, type Wording } from './flag-sentences.ts'
import { describeState } from './flag-summary.ts'

const { percent } = formatsOf('en')
const groupTypes = { '0': 'company' }
const summary = (fields: Partial<Flag>, t = en, format = percent) =>
  describeState(sampleFlag(fields), { t, percent: format, groupTypes })
const plan = { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] } as const
const groups = (...rollouts: (number | null)[]) => ({
  filters: { groups: rollouts.map(rollout_percentage => ({ properties: [plan], rollout_percentage })) },
})

describe('the summary of a flag', () => {
  it.each([
    ['deleted', { deleted: true }, 'Deleted', 'red'],
    ['off', { active: false }, 'Off for everyone', 'gray'],
    ['rolled back', { active: false, performed_rollback: true }, 'Off: rolled back automatically', 'red'],
    ['on for everyone', {}, 'On for all people', 'green'],
    ['without conditions', { filters: { groups: [] } }, 'On, but matches no one', 'yellow'],
    ['at 0%', { filters: { groups: [{ rollout_percentage: 0 }] } }, 'On, but matches no one', 'yellow'],
    ['at 25%', { filters: { groups: [{ rollout_percentage: 25 }] } }, 'On for 25% of people', 'green'],
    ['with a condition', groups(100), 'On for people matching 1 condition', 'green'],
    ['with conditions', groups(null, 100), 'On for people matching any of 2 conditions', 'green'],
    ['with rollouts', groups(10, 50, 100), '3 conditions, 10–100% rollout to people', 'green'],
    ['with one rollout', groups(10), '1 condition, 10% rollout to people', 'green'],
  ] as [string, Partial<Flag>, string, string][])('%s', (_name, fields, text, color) => {
    expect(summary(fields)).toEqual({ text, color })
  })

  it('names the group type and counts variants', () => {
    const filters = {
      groups: [{ rollout_percentage: 50 }],
      aggregation_group_type_index: 0,
      multivariate: { variants: [{ key: 'a' }, { key: 'b' }] },
    }
    expect(summary({ filters }).text).toBe('On for 50% of groups of type company · 2 variants')
  })

  it('is translated', () => {
    expect(summary({ filters: { groups: [{ rollout_percentage: 25 }] } }, de, formatsOf('de').percent).text).toBe(
      'Ein für 25\u00a0% der Personen',
    )
  })
})

describe('a condition in words', () => {
  const wording: Wording = {
    t: en,
    percent,
    groupTypes,
    cohortName: id => (id === '5' ? 'Payers' : `#${id}`),
    flagKey: id => (id === '7' ? 'checkout' : `#${id}`),
  }

  it('describes each property type', () => {
    const sentence = (fields: object) => propertySentence({ ...plan, ...fields } as never, wording)
    expect(sentence({ value: ['pro', 'team'] })).toBe('plan equals “pro” or “team”')
    expect(sentence({ operator: 'is_set' })).toBe('plan is set')
    expect(sentence({ operator: 'gt', value: 3 })).toBe('plan is greater than 3')
    expect(sentence({ operator: 'made_up', value: true })).toBe('plan made_up true')
    expect(sentence({ type: 'group', group_type_index: 0 })).toBe('company.plan equals “pro”')
    expect(sentence({ type: 'cohort', operator: 'in', value: 5 })).toBe('cohort is “Payers”')
    expect(sentence({ type: 'cohort', operator: 'not_in', value: 6 })).toBe('cohort is not “#6”')
    expect(sentence({ type: 'flag', key: '7', value: true })).toBe('flag checkout is on')
    expect(sentence({ type: 'flag', key: '7', value: 'b' })).toBe('flag checkout is b')
  })

  it('joins properties and names the variant', () => {
    const filters = readFilters({
      groups: [
        { properties: [plan, { ...plan, key: 'beta', operator: 'is_set' }], rollout_percentage: 5, variant: 'b' },
      ],
    })
    expect(conditionSentence(filters.groups[0]!, filters, wording)).toBe(
      '5% of people where plan equals “pro” and beta is set → b',
    )
  })

  it('is part of the lines that a diff compares', () => {
    const raw = {
      groups: [{ properties: [], rollout_percentage: null }],
      multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
      payloads: { a: '{"x":1}', true: 5 },
      holdout: { id: 1 },
    }
    expect(filterLines(raw, wording)).toEqual([
      'Condition 1: 100% of people',
      'Variant a: 100%',
      'Payload of a: {"x":1}',
      'Payload: 5',
      'holdout: {"id":1}',
    ])
  })

  it('shows null and missing values', () => {
    expect(valueText(null, en.words)).toBe('null')
    expect(valueText(undefined, en.words)).toBe('null')
    expect(valueText([], en.words)).toBe('')
  })
})
