import type { Messages } from '../messages/en.ts'

interface Decision {
  readonly code: string
  /** Of the condition that decided, if one did. */
  readonly conditionIndex: number | null | undefined
}

/** Why a flag answers what it answers, in a sentence; undefined for a reason that has no words yet. */
export function reasonSentence(t: Messages, { code, conditionIndex }: Decision): string | undefined {
  const atCondition: Record<string, (condition: string) => string> = t.reasonsAt
  const sentences: Record<string, string> = t.reasons
  const at = typeof conditionIndex === 'number' ? atCondition[code] : undefined
  return at ? at(t.editor.condition((conditionIndex as number) + 1)) : sentences[code]
}
