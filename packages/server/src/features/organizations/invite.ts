import type { Author } from '../../domain/activity.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import {
  type Actor,
  adminLevel,
  isLevel,
  memberLevel,
  type Organization,
  ownerLevel,
  requireLevel,
  type User,
} from '../../tenancy.ts'
import { announceAccess } from '../access/announce-access.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Account } from '../identity/account.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { checkedEmail } from '../identity/email.ts'
import { requireMembershipByHand } from '../identity/managed-account.ts'
import { hashSecret, newSecret, newUuid } from '../identity/secret.ts'
import { recordMember } from './change-member.ts'
import type { Invite } from './organization.ts'

const inviteMilliseconds = 7 * 24 * 60 * 60 * 1000

export interface NewInvite {
  readonly targetEmail: string
  readonly firstName: string
  readonly level: number
}

/**
 * Returns the invitation with the token that redeems it, of which only the hash is stored. With a mail server the token
 * is undefined: it is in the email only, so that no one else can accept the invitation.
 */
export async function createInvite(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  input: NewInvite,
  now: Instant,
): Promise<{ invite: Invite; token: string | undefined }> {
  requireLevel(actor, organization.id, adminLevel, 'invite users')
  const { level } = input
  if (!isLevel(level) || level === ownerLevel)
    throw invalid('level', 'invalid_choice', '`level` must be -1 (auditor), 0 (view only), 1 (member) or 8 (admin).')
  if (level > (actor.levels.get(organization.id) ?? memberLevel))
    throw forbidden('You cannot grant a level above your own.')
  const targetEmail = checkedEmail(input.targetEmail, 'target_email').toLowerCase()
  const account = await tx.identity.findAccountByEmail(targetEmail)
  if (account && (await tx.organizations.findMember(organization.id, account.uuid))) {
    throw invalid('target_email', 'unique', '`target_email` belongs to a member of the organization.')
  }
  if (account) await requireMembershipByHand(tx, organization.id, account.id, now)
  await checkOpenInvites(tx, actor, organization, now)
  const token = newSecret('')
  const invite: Invite = {
    id: newUuid(),
    organizationId: organization.id,
    targetEmail,
    firstName: input.firstName,
    level,
    tokenHash: hashSecret(token),
    isEmailed: tx.emails.isEnabled,
    createdBy: actor.user,
    createdAt: now,
    expiresAt: plusMilliseconds(now, inviteMilliseconds),
  }
  await tx.organizations.createInvite(invite)
  recordInvite(tx, actor, invite, 'created', now)
  await announceAccess(tx, invite, invite.id, now)
  await emailInvite(tx, organization, invite, token, now)
  return { invite, token: invite.isEmailed ? undefined : token }
}

export const recordInvite = (
  tx: Stores,
  author: Author,
  { id, organizationId, targetEmail, level }: Invite,
  activity: 'created' | 'deleted' | 'accepted',
  now: Instant,
): void => {
  const fields = activity === 'created' ? { after: { email: targetEmail, level } } : {}
  recordAudit(
    tx,
    author,
    { organizationId },
    { scope: 'Invitation', itemId: id, name: targetEmail, activity, ...fields },
    now,
  )
}

const openPerMemberMax = 100
const openPerOrganizationMax = 500

async function checkOpenInvites(tx: Stores, actor: Actor, { id }: Organization, now: Instant): Promise<void> {
  if ((await tx.organizations.countOpenInvites(id, now, actor.user.id)) >= openPerMemberMax) {
    throw invalid(
      null,
      'limit_reached',
      `You have ${openPerMemberMax} open invitations, the most there can be. Withdraw some, or wait until they are accepted.`,
    )
  }
  if ((await tx.organizations.countOpenInvites(id, now)) >= openPerOrganizationMax) {
    throw invalid(
      null,
      'limit_reached',
      `The organization has ${openPerOrganizationMax} open invitations, the most there can be. Withdraw some first.`,
    )
  }
}

export const signupPath = (token: string): string => `/signup/${token}`

const emailInvite = (
  tx: Stores,
  organization: Organization,
  { targetEmail, createdBy }: Invite,
  token: string,
  now: Instant,
): Promise<void> =>
  tx.emails.enqueue(
    [
      {
        organizationId: organization.id,
        recipient: targetEmail,
        subject: `${createdBy.email} invites you to ${organization.name} on Halyard`,
        text: [
          `${createdBy.email} invites you to join an organization on Halyard.`,
          'Open this link within 7 days to accept:',
        ],
        path: signupPath(token),
        quotes: [{ label: 'Organization', text: organization.name }],
      },
    ],
    now,
  )

/** Raises `missing` when no open invitation has this token. */
export async function getOpenInvite(tx: Stores, token: string, now: Instant): Promise<Invite> {
  const invite = await tx.organizations.findInviteByToken(hashSecret(token))
  if (!invite || invite.expiresAt <= now) throw missing('Invitation')
  return invite
}

/** Creates an account, makes the organization its current one, and uses up the invitation. */
export async function acceptInvite(
  tx: Stores,
  token: string,
  person: { readonly firstName: string; readonly passwordHash: string },
  now: Instant,
  origin?: Origin,
): Promise<User> {
  const invite = await getOpenInvite(tx, token, now)
  const project = (await tx.projects.list({ organizationIds: [invite.organizationId] }, { limit: 1, offset: 0 }))
    .items[0]
  const existing = await tx.identity.findAccountByEmail(invite.targetEmail)
  if (existing && !isIdle(existing) && !(invite.isEmailed && isUnproven(existing))) {
    throw invalid(
      null,
      'unique',
      'An account with this email address already exists. Sign in to accept the invitation.',
    )
  }
  if (existing) return activate(tx, existing, invite, person, project?.id ?? null, now, origin)
  const account = await tx.identity.createAccount({
    uuid: newUuid(),
    distinctId: newUuid(),
    firstName: person.firstName,
    email: invite.targetEmail,
    isEmailVerified: invite.isEmailed,
    passwordHash: person.passwordHash,
    isActive: true,
    isStaff: false,
    currentOrganizationId: invite.organizationId,
    currentProjectId: project?.id ?? null,
    dateJoined: now,
  })
  await join(tx, invite, { user: account, key: { label: signUpLabel }, origin }, now)
  return account
}

/** Created by the import of a project: it has never been possible to sign in to it. */
const isIdle = ({ isActive, passwordHash }: Account): boolean => !isActive && passwordHash === null

/**
 * Created by a provider of any organization, for an address that no one has proven. Whose it is has the email: without it, one organization
 * could keep the people of another one out.
 */
const isUnproven = ({ isEmailVerified, passwordHash }: Account): boolean => !isEmailVerified && passwordHash === null

/** What the account did before remains attributed to it. Keys and factors that someone else may have do not work any longer. */
async function activate(
  tx: Stores,
  account: Account,
  invite: Invite,
  person: { readonly firstName: string; readonly passwordHash: string },
  currentProjectId: number | null,
  now: Instant,
  origin: Origin | undefined,
): Promise<User> {
  const { organizationId: currentOrganizationId } = invite
  if ((await tx.identity.listOrganizationIds(account.id)).includes(invite.organizationId)) throw alreadyMember()
  if (account.isActive) {
    await tx.identity.removeKeys(account.id, 'all')
    await tx.secondFactors.removeAll(account.id)
  }
  const isEmailVerified = account.isEmailVerified || invite.isEmailed
  await tx.identity.updateAccount(account.id, {
    ...person,
    isEmailVerified,
    isActive: true,
    currentOrganizationId,
    currentProjectId,
  })
  await join(tx, invite, { user: account, key: { label: signUpLabel }, origin }, now)
  return { ...account, firstName: person.firstName, isEmailVerified }
}

/** Adds an existing account. Raises `forbidden` when the invitation is for another address. */
export async function joinByInvite(tx: Stores, actor: Actor, token: string, now: Instant): Promise<Invite> {
  const invite = await getOpenInvite(tx, token, now)
  if (invite.targetEmail !== actor.user.email.toLowerCase()) {
    throw forbidden('This invitation is for another email address.')
  }
  if (actor.levels.has(invite.organizationId)) throw alreadyMember()
  if (invite.isEmailed) await tx.identity.updateAccount(actor.user.id, { isEmailVerified: true })
  await join(tx, invite, actor, now)
  return invite
}

const alreadyMember = () => invalid(null, 'unique', 'You are already a member of this organization.')

const signUpLabel = 'Sign-up'

async function join(tx: Stores, invite: Invite, author: NonNullable<Author>, now: Instant): Promise<void> {
  const { user } = author
  await tx.organizations.addMember({
    id: newUuid(),
    organizationId: invite.organizationId,
    userId: user.id,
    level: invite.level,
    joinedAt: now,
    updatedAt: now,
  })
  await tx.accountTies.tie(user.id, invite.createdBy.id, 'invited', now)
  await tx.organizations.removeInvite(invite.id)
  await announceIdentity(tx, user.id, now, invite.organizationId)
  const { organizationId: id, level } = invite
  recordMember(tx, author, { id }, user, { activity: 'created', after: { level } }, now)
  recordInvite(tx, author, invite, 'accepted', now)
}
