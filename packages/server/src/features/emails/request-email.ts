import type { EmailContent } from './email.ts'

/** The steps of a change request that emails are sent about. */
export type MailedStep =
  | 'change_requested'
  | 'change_rebased'
  | 'change_rescheduled'
  | 'change_pending'
  | 'change_missed_time'
  | 'change_commented'
  | 'change_approved'
  | 'change_rejected'
  | 'change_applied'
  | 'change_frozen'
  | 'change_conflicted'
  | 'change_failed'
  | 'change_expired'
  | 'emergency_applied'

interface Wording {
  /** Begins the subject. */
  readonly steps: Readonly<Record<MailedStep, string>>
  readonly by: (who: string) => string
  readonly change: string
  readonly reason: string
  readonly turnOff: string
}

const english: Wording = {
  steps: {
    change_requested: 'Approval requested',
    change_rebased: 'Approval requested again',
    change_rescheduled: 'Approval requested again',
    change_pending: 'Approval needed again',
    change_missed_time: 'Not approved in time',
    change_commented: 'New comment',
    change_approved: 'Change approved',
    change_rejected: 'Change rejected',
    change_applied: 'Change applied',
    change_frozen: 'Change waits for the end of a freeze',
    change_conflicted: 'Change conflicts with another one',
    change_failed: 'Change could not be applied',
    change_expired: 'Change request expired',
    emergency_applied: 'Emergency change to review',
  },
  by: who => `By ${who}`,
  change: 'Change',
  reason: 'Reason',
  turnOff: 'Turn off emails about change requests:',
}

const german: Wording = {
  steps: {
    change_requested: 'Freigabe angefordert',
    change_rebased: 'Freigabe erneut angefordert',
    change_rescheduled: 'Freigabe erneut angefordert',
    change_pending: 'Freigabe erneut nötig',
    change_missed_time: 'Nicht rechtzeitig freigegeben',
    change_commented: 'Neuer Kommentar',
    change_approved: 'Änderung freigegeben',
    change_rejected: 'Änderung abgelehnt',
    change_applied: 'Änderung angewendet',
    change_frozen: 'Änderung wartet auf das Ende einer Sperre',
    change_conflicted: 'Änderung steht im Konflikt mit einer anderen',
    change_failed: 'Änderung konnte nicht angewendet werden',
    change_expired: 'Antrag abgelaufen',
    emergency_applied: 'Notfalländerung zu prüfen',
  },
  by: who => `Von ${who}`,
  change: 'Änderung',
  reason: 'Grund',
  turnOff: 'Nachrichten zu Anträgen abschalten:',
}

export interface RequestNews {
  readonly step: MailedStep
  readonly projectName: string
  readonly title: string
  readonly who: string
  /** Empty for none. */
  readonly reason: string
  readonly path: string
}

/** What an email about a step says, in the language of its recipient. */
export function requestEmail(
  { step, projectName, title, who, reason, path }: RequestNews,
  language: string | null,
): EmailContent {
  const { steps, by, change, reason: because, turnOff } = language === 'de' ? german : english
  return {
    subject: `[${projectName}] ${steps[step]}: ${title}`,
    text: [steps[step], by(who)],
    path,
    quotes: [{ label: change, text: title }, ...(reason === '' ? [] : [{ label: because, text: reason }])],
    footer: { text: turnOff, path: '/account' },
  }
}
