import type { Messages } from '../../i18n/en.ts'
import { valueText } from '../flag-sentences.ts'
import type { WireFilter } from './trace.ts'

/** What the filter expected and what it found. */
export function filterSentence(t: Messages, filter: WireFilter): string {
  if (filter.kind === 'cohort') {
    const isIn = (filter.operator !== 'not_in') === filter.matched
    const name = filter.name ?? `#${filter.id}`
    return isIn ? t.explain.isInCohort(name) : t.explain.isNotInCohort(name)
  }
  if (filter.kind === 'flag') {
    const seen = flagText(t, filter.seen)
    const key = filter.key ?? '?'
    return filter.matched ? t.explain.flagIs(key, seen) : t.explain.flagShould(key, flagText(t, filter.expected), seen)
  }
  const seen = filter.present ? t.explain.actual(valueText(filter.seen, t.words)) : t.explain.notSet
  return `${wanted(t, filter)} – ${seen}`
}

function wanted(t: Messages, { key, operator = '', value }: WireFilter): string {
  const operators: Record<string, string> = t.operators
  const text = operators[operator] ?? operator
  const isBare = operator === 'is_set' || operator === 'is_not_set'
  return isBare ? `${key} ${text}` : `${key} ${text} ${valueText(value, t.words)}`
}

const flagText = (t: Messages, value: unknown): string =>
  value === true ? t.preview.on : value === false ? t.preview.off : valueText(value, t.words)
