import { oneLine } from '../../http/routes/one-line.ts'
import type { Job, JobContext } from '../../jobs/job-runner.ts'
import { type Email, type EmailContent, nextAttemptAt } from './email.ts'

/** Hands an email over to the mail server. Rejects when the server does not take it. */
export interface EmailTransport {
  send(email: OutgoingEmail): Promise<void>
  close(): void
}

export interface OutgoingEmail {
  readonly messageId: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

interface Deps {
  readonly transport: EmailTransport
  /** What links begin with. */
  readonly publicUrl: string
  readonly onFailure: (email: Email, error: unknown, isFinal: boolean) => void
}

const batchMax = 20
/** A run ends well before its lease; what is left waits for the next one. */
const runMillisecondsMax = 30_000

/** Sends what is due. An email is removed after it was sent: when the node ends in between, it is sent again with the same id. */
export const emailJob = (deps: Deps): Job => ({
  name: 'emails',
  async run(context) {
    const end = performance.now() + runMillisecondsMax
    while (performance.now() < end) {
      const due = await context.read(tx => tx.emails.listDue(context.now, batchMax))
      for (const email of due) {
        if (performance.now() >= end) return
        await sendOne(context, deps, email)
      }
      if (due.length < batchMax) return
    }
  },
})

async function sendOne(context: JobContext, { transport, publicUrl, onFailure }: Deps, email: Email): Promise<void> {
  const { id, messageId, recipient, content } = email
  try {
    if (!content) throw new Error('The email was encrypted with another key.')
    await transport.send({
      messageId,
      to: recipient,
      subject: oneLine(content.subject),
      text: textOf(content, publicUrl),
    })
  } catch (error) {
    const next = content && nextAttemptAt(email, context.now)
    onFailure(email, error, next === undefined)
    await context.transaction(tx => (next ? tx.emails.retryAt(id, next) : tx.emails.remove(id)))
    return
  }
  await context.transaction(tx => tx.emails.remove(id))
}

function textOf({ text, path, quotes = [], footer }: EmailContent, publicUrl: string): string {
  const quoted = quotes.map(quote => `${quote.label}:\n> ${oneLine(quote.text)}`)
  const ending = footer ? [`-- \n${footer.text} ${publicUrl}${footer.path}`] : []
  return `${[...text.map(oneLine), `${publicUrl}${path}`, ...quoted, ...ending].join('\n\n')}\n`
}
