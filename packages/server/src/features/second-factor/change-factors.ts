import type { Instant } from '../../instant.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Organization, requireLevel } from '../../tenancy.ts'
import { type AuditRecord, organizationsOf, recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { factorsPerUserMax, hashRecoveryCode, newRecoveryCodes, type SecondFactor } from './second-factor.ts'

/** With the first factor come recovery codes. */
export async function addFactor(
  tx: Stores,
  actor: Actor,
  factor: SecondFactor,
  now: Instant,
): Promise<{ factor: SecondFactor; recoveryCodes: readonly string[] | null }> {
  const existing = await tx.secondFactors.list(actor.user.id)
  if (existing.length >= factorsPerUserMax) {
    throw invalid(null, 'limit_reached', `You have ${factorsPerUserMax} second factors, the most there can be.`)
  }
  await tx.secondFactors.create(factor)
  record(tx, actor, 'second_factor_added', { after: { kind: factor.kind, name: factor.name } }, now)
  await announceIdentity(tx, actor.user.id, now)
  const isFirst = existing.length === 0
  return { factor, recoveryCodes: isFirst ? await renewRecoveryCodes(tx, actor, now) : null }
}

/** Raises `missing`, and `invalid` for the last one while an organization requires it. */
export async function removeFactor(tx: Stores, actor: Actor, factorId: string, now: Instant): Promise<void> {
  const { id } = actor.user
  if (!(await tx.secondFactors.remove(id, factorId))) throw missing('Second factor')
  if ((await tx.secondFactors.list(id)).length === 0) {
    const [requiring] = await tx.organizations.listRequiringFactor(id)
    if (requiring) {
      throw invalid(null, 'required', `${requiring.name} requires a second factor. Add another one first.`)
    }
    await tx.secondFactors.replaceRecoveryCodes(id, [])
  }
  record(tx, actor, 'second_factor_removed', { before: { id: factorId } }, now)
  await announceIdentity(tx, id, now)
}

/** The new codes, which only this response contains. Raises `invalid` for a user without a factor. */
export async function renewRecoveryCodes(tx: Stores, actor: Actor, now: Instant): Promise<readonly string[]> {
  const { user } = actor
  if ((await tx.secondFactors.list(user.id)).length === 0) {
    throw invalid(null, 'invalid_input', 'Recovery codes need a second factor. Add one first.')
  }
  const codes = newRecoveryCodes()
  await tx.secondFactors.replaceRecoveryCodes(
    user.id,
    codes.map(code => hashRecoveryCode(user.id, code)),
  )
  record(tx, actor, 'recovery_codes_created', {}, now)
  await announceIdentity(tx, user.id, now)
  return codes
}

const record = (
  tx: Stores,
  actor: Actor,
  activity: string,
  fields: Pick<AuditRecord, 'before' | 'after'>,
  now: Instant,
): void =>
  recordAudit(
    tx,
    actor,
    organizationsOf(actor),
    { scope: 'Account', itemId: actor.user.uuid, name: actor.user.email, activity, ...fields },
    now,
  )

/** Removes every factor of an account and ends its sign-ins: the next one needs the password alone. */
export async function resetFactors(tx: Stores, userId: number, now: Instant, organizationId?: string): Promise<void> {
  await tx.secondFactors.removeAll(userId)
  await tx.identity.removeKeys(userId, 'sessions')
  await announceIdentity(tx, userId, now, organizationId)
}

/** An admin of one organization must not weaken an account that another one trusts. */
export async function resetMember(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  now: Instant,
): Promise<void> {
  requireLevel(actor, organization.id, adminLevel, 'reset second factors')
  const member = await tx.organizations.findMember(organization.id, userUuid)
  if (!member) throw missing('Member')
  if (member.user.id === actor.user.id) throw forbidden('Manage your own second factors in your account.')
  if (!actor.isStaff) {
    for (const { organizationId, level } of await tx.organizations.listMemberships(member.user.id)) {
      if ((actor.levels.get(organizationId) ?? -1) < Math.max(adminLevel, level)) {
        throw forbidden('The member is above you, here or in another organization. Ask an instance administrator.')
      }
    }
  }
  if (!member.hasSecondFactor) throw missing('Second factor')
  await resetFactors(tx, member.user.id, now, organization.id)
  recordAudit(
    tx,
    actor,
    { organizationId: organization.id },
    {
      scope: 'Member',
      itemId: member.user.uuid,
      name: member.user.email,
      activity: 'second_factor_reset',
      before: { is_2fa_enabled: true },
      after: { is_2fa_enabled: false },
    },
    now,
  )
}
