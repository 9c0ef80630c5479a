import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import type { Wording } from '../flag-sentences.ts'
import {
  defaultCondition,
  readRollbackCondition,
  rollbackSentence,
  writeRollbackCondition,
} from './rollback-condition.ts'

const wording: Wording = {
  t: en,
  percent: value => `${value}%`,
  groupTypes: {},
  cohortName: id => id,
  flagKey: id => id,
}

describe('a rollback condition', () => {
  it.each([
    [{ metric: { event: '$exception' }, operator: 'gt', threshold: 10, window_minutes: 60 }],
    [{ metric: { event: 'error', math: 'rate' }, operator: 'gte', threshold: 0.5, window_minutes: 5 }],
    [
      {
        metric: {
          event: 'error',
          per: '$pageview',
          properties: [{ key: 'level', type: 'person', operator: 'exact', value: ['fatal'] }],
          only_flagged: true,
        },
        operator: 'gt',
        threshold: 0.02,
        window_minutes: 30,
        minimum_samples: 100,
      },
    ],
    [{ metric: { name: 'latency', math: 'maximum' }, operator: 'lt', threshold: 3, window_minutes: 60 }],
  ])('round-trips: %j', condition => {
    expect(writeRollbackCondition(readRollbackCondition(condition)!)).toEqual(condition)
  })

  it('is described in a sentence', () => {
    const condition = {
      ...defaultCondition,
      name: 'error',
      eventMath: 'per' as const,
      per: '$pageview',
      minimumSamples: 100,
    }
    expect(rollbackSentence({ ...condition, threshold: 0.02, isOnlyFlagged: true }, wording)).toBe(
      'ratio of error to $pageview is greater than 0.02 within 60 minutes; only people with the flag on; at least 100 samples',
    )
  })

  it('of an unknown shape is not read', () => {
    expect(readRollbackCondition({ metric: 5 })).toBeUndefined()
    expect(readRollbackCondition('x')).toBeUndefined()
  })
})
