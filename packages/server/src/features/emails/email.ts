import { type Instant, plusMilliseconds } from '../../instant.ts'

/** What an email says. */
export interface EmailContent {
  readonly subject: string
  /** Paragraphs of plain text. */
  readonly text: readonly string[]
  /** The page of the dashboard that it leads to. */
  readonly path: string
  /** What users have written, quoted after the link so that none of it passes for the email's own text. */
  readonly quotes?: readonly Quote[]
  /** Where such emails are turned off. */
  readonly footer?: { readonly text: string; readonly path: string }
}

export interface Quote {
  readonly label: string
  readonly text: string
}

export interface NewEmail extends EmailContent {
  readonly organizationId: string
  readonly recipient: string
}

/** An email that waits to be sent. */
export interface Email {
  readonly id: number
  /** The same for every attempt, so that a receiver can recognize a repetition. */
  readonly messageId: string
  readonly recipient: string
  /** Undefined when it was sealed with another key. */
  readonly content: EmailContent | undefined
  readonly attempts: number
}

export const attemptsMax = 8
const firstBackoffMilliseconds = 30_000
const backoffMillisecondsMax = 6 * 3_600_000

/** Exponential backoff from half a minute to six hours; undefined after the last attempt. */
export function nextAttemptAt({ attempts }: Pick<Email, 'attempts'>, now: Instant): Instant | undefined {
  if (attempts + 1 >= attemptsMax) return undefined
  return plusMilliseconds(now, Math.min(firstBackoffMilliseconds * 4 ** attempts, backoffMillisecondsMax))
}
