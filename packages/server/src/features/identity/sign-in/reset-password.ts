import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Origin } from '../../../origin.ts'
import { missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import type { Account } from '../account.ts'
import { announceIdentity } from '../announce-identity.ts'
import { hashSecret, newSecret } from '../secret.ts'

const resetMinutes = 30

/** Emails a link that sets a new password. Does nothing for an address without an account that has a password. */
export async function sendResetLink(tx: Stores, email: string, now: Instant): Promise<void> {
  const account = await tx.identity.findAccountByEmail(email)
  if (!account?.isActive || account.passwordHash === null) return
  const organizationId = await organizationOf(tx, account)
  if (organizationId === undefined) return
  const token = newSecret('')
  const expiresAt = plusMilliseconds(now, resetMinutes * 60_000)
  const data = JSON.stringify({ email: account.email })
  await tx.accountTokens.create(
    { hash: hashSecret(token), userId: account.id, purpose: 'password_reset', data, expiresAt },
    now,
  )
  const { subject, text, unverified } = account.language === 'de' ? german : english
  await tx.emails.enqueue(
    [
      {
        organizationId,
        recipient: account.email,
        subject,
        text: account.isEmailVerified ? text : [...text, unverified],
        // After the hash, so that no server and no proxy on the way logs it.
        path: `/reset-password#${token}`,
      },
    ],
    now,
  )
}

/**
 * The account that a link is for. A link proves the address that it was sent to, and no other one that the account has meanwhile. Raises
 * `missing`.
 */
export async function getReset(
  tx: Stores,
  token: string,
  now: Instant,
): Promise<{ readonly hash: string; readonly account: Account }> {
  const hash = hashSecret(token)
  const reset = await tx.accountTokens.find(hash, 'password_reset', now)
  const account = reset && (await tx.identity.findAccount(reset.userId))
  const isForAddress = account && JSON.parse(reset.data).email === account.email
  if (!account?.isActive || !isForAddress) throw missing('Reset link')
  return { hash, account }
}

/** Sets the password, uses the token up and ends every sign-in. Raises `missing` for a token that is not valid. */
export async function resetPassword(
  tx: Stores,
  token: string,
  passwordHash: string,
  origin: Origin,
  now: Instant,
): Promise<void> {
  const { hash, account } = await getReset(tx, token, now)
  if (!(await tx.accountTokens.consume(hash))) throw missing('Reset link')
  await tx.identity.updateAccount(account.id, { passwordHash, isEmailVerified: true })
  // Only now is the address proven: a user who chose it before keeps no access to the account.
  await tx.identity.removeKeys(account.id, account.isEmailVerified ? 'sessions' : 'all')
  if (!account.isEmailVerified) await tx.secondFactors.removeAll(account.id)
  recordAudit(
    tx,
    { user: account, key: { label: 'Reset link' }, origin },
    await tx.identity.listOrganizationIds(account.id),
    { scope: 'Account', itemId: account.uuid, name: account.email, activity: 'password_reset' },
    now,
  )
  await announceIdentity(tx, account.id, now)
}

/** Emails are queued for an organization. */
async function organizationOf(tx: Stores, account: Account): Promise<string | undefined> {
  const organizations = await tx.identity.listOrganizationIds(account.id)
  return organizations.find(id => id === account.currentOrganizationId) ?? organizations[0]
}

const english = {
  subject: 'Reset your Halyard password',
  text: [
    'A new password was requested for your Halyard account.',
    'If it was not you, ignore this email: nothing changes.',
    `Open this link within ${resetMinutes} minutes to choose one. It works once and signs you out everywhere:`,
  ],
  unverified:
    'This address is confirmed by the link for the first time: API keys and second factors of the account are removed.',
}

const german: typeof english = {
  subject: 'Halyard-Passwort zurücksetzen',
  text: [
    'Für dein Halyard-Konto wurde ein neues Passwort angefordert.',
    'Warst du das nicht, ignoriere diese Nachricht: Es ändert sich nichts.',
    `Öffne diesen Link innerhalb von ${resetMinutes} Minuten, um eines zu wählen. Er gilt einmal und meldet dich überall ab:`,
  ],
  unverified:
    'Der Link bestätigt diese Adresse zum ersten Mal: API-Schlüssel und zweite Faktoren des Kontos werden entfernt.',
}
