import { createTransport } from 'nodemailer'
import type { EmailTransport } from './send-emails.ts'

const timeoutMilliseconds = 10_000

export const senderOf = ({ emailFrom }: { readonly emailFrom: string | undefined }, publicUrl: string): string =>
  emailFrom ?? `halyard@${new URL(publicUrl).hostname}`

/** `smtp://` upgrades to TLS when the server offers it; `smtps://` starts with it. */
export function createSmtpTransport(url: string, from: string): EmailTransport {
  const transporter = createTransport({
    url,
    connectionTimeout: timeoutMilliseconds,
    greetingTimeout: timeoutMilliseconds,
    socketTimeout: timeoutMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return {
    async send({ messageId, to, subject, text }) {
      await transporter.sendMail({
        from,
        // As an object: a comma or quote in an address does not make it several.
        to: { name: '', address: to },
        messageId: `<${messageId}@${domain}>`,
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    },
    close: () => transporter.close(),
  }
}
