import { type ApiProblem, isProblem } from '../../api/problem.ts'
import type { Messages } from '../../i18n/en.ts'
import { formatsOf } from '../../i18n/formats.ts'

export function problemText(t: Messages, error: unknown): string {
  if (isProblem(error)) return error.status === 0 ? t.common.unreachable : translated(t, error)
  return error instanceof Error ? error.message : t.common.somethingWrong
}

/** The server's messages are English. A translation is looked up by code and field. */
function translated(t: Messages, { code, field, message }: ApiProblem): string {
  const translate = t.problems[`${code} ${field}`] ?? t.problems[code]
  return withLocalTimes(translate ? translate(message) : message)
}

/** The server writes times in UTC. */
const withLocalTimes = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, instant =>
    formatsOf(document.documentElement.lang || 'en').moment(instant),
  )

/** The message for one form field, if the error is about it. */
export const fieldProblem = (t: Messages, error: unknown, field: string): string | undefined =>
  isProblem(error) && error.field === field ? translated(t, error) : undefined
