import type { AuditEntry } from '@halyard/contract'
import type { Messages } from '../i18n/en.ts'

const nameCharactersMax = 200

/** Who did it, the subject of the sentence. */
export function auditSubject({ actor, credential, objects, is_unreadable }: AuditEntry, t: Messages): string {
  if (is_unreadable) return t.audit.unreadable
  if (actor) return actor.email
  const [first] = objects
  if (first?.type === 'SignIn') return first.name
  return credential?.kind === 'command_line' ? t.audit.commandLine : t.audit.system
}

/** What the actor did, as the predicate of a sentence: "created the flag new-checkout and 2 more changes". */
export function auditSentence({ operation, objects, is_unreadable }: AuditEntry, t: Messages): string {
  if (is_unreadable) return t.audit.tampered
  const [first, ...others] = objects
  if (!first) return t.audit.operations[operation] ?? t.audit.unchanged
  const verbs: Readonly<Record<string, string>> = { ...t.history.verbs, ...t.audit.verbs }
  const words = [
    verbs[first.activity] ?? first.activity.replaceAll('_', ' '),
    ...about(first, t),
    ...(others.length > 0 ? [t.audit.more(others.length)] : []),
  ]
  return words.join(' ')
}

function about({ type, name, activity }: AuditEntry['objects'][number], t: Messages): readonly string[] {
  // Who signs in is the subject already.
  if (type === 'SignIn') return []
  const shown = name.slice(0, nameCharactersMax)
  // The verbs of change requests say what it is, and the name is the request's title.
  return /^(change|emergency)_/.test(activity) ? [shown] : [t.audit.nouns[type] ?? type, shown]
}
