import type { EvaluationReason } from '@halyard/contract'
import type { Messages } from '../../i18n/en.ts'
import { filterSentence } from './filter-sentence.ts'
import type { WireTrace } from './trace.ts'

interface Decision {
  readonly code: string
  /** The index of the deciding condition, if there is one. */
  readonly conditionIndex: number | null | undefined
}

/** Why a flag has its value, as a sentence; undefined for an unknown reason code. */
export function reasonSentence(t: Messages, { code, conditionIndex }: Decision): string | undefined {
  const atCondition: Record<string, (condition: string) => string> = t.reasonsAt
  const sentences: Record<string, string> = t.reasons
  const at = typeof conditionIndex === 'number' ? atCondition[code] : undefined
  return at ? at(t.editor.condition((conditionIndex as number) + 1)) : sentences[code]
}

/** Uses the whole trace: with a single condition, the filter that did not match is the useful explanation. */
export function resultSentence(
  t: Messages,
  { reason: code, condition_index: conditionIndex, description }: EvaluationReason['evaluation'],
  trace: WireTrace | undefined,
): string {
  const [only, second] = trace?.conditions ?? []
  if (code === 'no_group_type' && only?.group_type) return t.explain.groupMissing(only.group_type)
  const missed = code === 'no_condition_match' && !second && only?.filters.find(filter => !filter.matched)
  if (missed) return t.explain.noMatch(filterSentence(t, missed))
  return reasonSentence(t, { code, conditionIndex }) ?? description
}
