import { Resolver } from 'node:dns/promises'
import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { newId, newUuid } from '../identity/secret.ts'
import { domainsPerOrganizationMax, type OrganizationDomain, recordNameOf, recordValueOf } from './identity-provider.ts'

/** The texts of the TXT records of a name; empty when there are none or DNS does not respond. */
export type ReadTextRecords = (name: string) => Promise<readonly string[]>

/** Of these servers, or those of the system. */
export function readTextRecords(servers: readonly string[]): ReadTextRecords {
  return async name => {
    const resolver = new Resolver({ timeout: 3000, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    const records = await resolver.resolveTxt(name).catch(() => [])
    return records.map(parts => parts.join(''))
  }
}

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Raises `invalid`. */
export async function addDomain(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  name: string,
  now: Instant,
): Promise<OrganizationDomain> {
  const domain = name.trim().toLowerCase()
  const labels = domain.split('.')
  if (labels.length < 2 || !labels.every(each => label.test(each))) {
    throw invalid('domain', 'invalid_input', '`domain` must be a name such as acme.com; write others in Punycode.')
  }
  if ((await tx.identityProviders.listDomains(organization.id)).length >= domainsPerOrganizationMax) {
    throw invalid(null, 'limit_reached', `An organization can have at most ${domainsPerOrganizationMax} domains.`)
  }
  const added: OrganizationDomain = {
    id: newUuid(),
    organizationId: organization.id,
    domain,
    challenge: newId(),
    verifiedAt: null,
    createdAt: now,
  }
  await tx.identityProviders.addDomain(added)
  recordDomain(tx, actor, added, 'created', now)
  return added
}

/** Raises `invalid` when the record is not there. */
export async function requireRecord(domain: OrganizationDomain, read: ReadTextRecords): Promise<void> {
  const texts = await read(recordNameOf(domain.domain))
  if (texts.includes(recordValueOf(domain.challenge))) return
  throw invalid(
    null,
    'invalid_input',
    `No TXT record at ${recordNameOf(domain.domain)} has the expected value. DNS may need some minutes.`,
  )
}

export async function markVerified(
  tx: Stores,
  actor: Actor,
  domain: OrganizationDomain,
  now: Instant,
): Promise<OrganizationDomain> {
  if (domain.verifiedAt !== null) return domain
  await tx.identityProviders.verifyDomain(domain.id, now)
  recordDomain(tx, actor, domain, 'verified', now)
  return { ...domain, verifiedAt: now }
}

export async function removeDomain(tx: Stores, actor: Actor, domain: OrganizationDomain, now: Instant): Promise<void> {
  await tx.identityProviders.removeDomain(domain.id)
  recordDomain(tx, actor, domain, 'deleted', now)
}

/** Raises `missing`. */
export async function getDomain(tx: Stores, organization: Organization, domainId: string): Promise<OrganizationDomain> {
  const domain = await tx.identityProviders.findDomain(organization.id, domainId)
  if (!domain) throw missing('Domain')
  return domain
}

const recordDomain = (
  tx: Stores,
  actor: Actor,
  { id, organizationId, domain }: OrganizationDomain,
  activity: string,
  now: Instant,
): void =>
  recordAudit(tx, actor, { organizationId }, { scope: 'OrganizationDomain', itemId: id, name: domain, activity }, now)
