import { invalid, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, auditorLevel, hasAnyScope, levelIn } from '../../tenancy.ts'
import type { Webhook } from './webhook.ts'

/** Raises `forbidden` when the caller cannot read the audit log that the webhook would send. */
export function requireAuditAccess(actor: Actor, organizationId: string): void {
  const level = levelIn(actor, organizationId) ?? auditorLevel
  if (level >= adminLevel && hasAnyScope(actor.key, ['audit_log:read'])) return
  throw new Problem(
    'forbidden',
    '`events` contains `audit`: your key needs the scope audit_log:read for the whole organization.',
    { field: 'events' },
  )
}

/** Whether the creator of a webhook can read the audit log: admins, owners and auditors can. */
export async function canFollowAudit(tx: Stores, { organizationId, createdBy }: CreatedWebhook): Promise<boolean> {
  const creator = await tx.organizations.findMember(organizationId, createdBy.uuid)
  return creator !== undefined && (creator.level >= adminLevel || creator.level === auditorLevel)
}

/** Raises `invalid` when it would send nothing. */
export async function requireAuditCreator(tx: Stores, webhook: CreatedWebhook): Promise<void> {
  if (await canFollowAudit(tx, webhook)) return
  throw invalid(
    'events',
    'invalid_input',
    'The creator of this webhook cannot read the audit log. Create another webhook for `audit`.',
  )
}

type CreatedWebhook = Pick<Webhook, 'organizationId' | 'createdBy'>
