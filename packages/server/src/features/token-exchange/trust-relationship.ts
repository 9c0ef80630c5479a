import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { User } from '../../tenancy.ts'

/** A condition on a claim of a token. */
export interface ClaimRule {
  readonly claim: string
  readonly match: 'exact' | 'prefix'
  readonly value: string
}

/** Which tokens of an issuer are exchanged for which keys. */
export interface TrustRelationship {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly rules: readonly ClaimRule[]
  readonly scopes: readonly string[]
  /** Empty means all projects of the organization. */
  readonly projectIds: readonly number[]
  readonly ttlSeconds: number
  /** The account that its keys act as. */
  readonly userId: number
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly lastUsedAt: Instant | null
}

export type TrustPatch = {
  readonly [Field in
    | 'name'
    | 'issuer'
    | 'audience'
    | 'rules'
    | 'scopes'
    | 'projectIds'
    | 'ttlSeconds'
    | 'updatedAt'
    | 'lastUsedAt']?: TrustRelationship[Field] | undefined
}

export const relationshipsPerOrganizationMax = 100
export const ttlSecondsDefault = 900

/** Everyone can get a token with these from a public issuer, so they distinguish no one. */
const claimsOfEveryone = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])

/** Issuers that sign tokens for everyone, and the claims by which their tokens differ from those of strangers. */
const claimsOfPublicIssuers: Readonly<Record<string, readonly string[]>> = {
  'https://token.actions.githubusercontent.com': [
    'sub',
    'repository',
    'repository_id',
    'repository_owner',
    'repository_owner_id',
    'workflow_ref',
    'job_workflow_ref',
  ],
  'https://gitlab.com': ['sub', 'project_path', 'project_id', 'namespace_path', 'namespace_id', 'ci_config_ref_uri'],
}

/** Raises `invalid` for rules that would accept tokens of strangers. */
export function checkRules({ rules, issuer }: Pick<TrustRelationship, 'rules' | 'issuer'>): void {
  if (rules.length === 0) {
    throw invalid('rules', 'required', '`rules` needs at least one rule, such as an exact `sub`.')
  }
  for (const { claim, match, value } of rules) {
    if (claimsOfEveryone.has(claim)) {
      throw invalid('rules', 'invalid_input', `\`rules\` cannot use \`${claim}\`: it does not identify the workload.`)
    }
    // "repo:acme" would also accept "repo:acme-evil", and so would "repo:acme-".
    if (match === 'prefix' && /[\p{L}\p{M}\p{N}._-]$/u.test(value)) {
      throw invalid(
        'rules',
        'invalid_input',
        '`rules` has a prefix that must end with a separator, such as "/" or ":".',
      )
    }
    // "repo:" is what every subject of the issuer begins with.
    if (match === 'prefix' && claim === 'sub' && !/[\p{L}\p{N}][^\p{L}\p{N}._-]+[\p{L}\p{N}]/u.test(value)) {
      throw invalid('rules', 'invalid_input', '`rules` has a prefix of `sub` that names no one, such as "repo:".')
    }
  }
  const naming = Object.hasOwn(claimsOfPublicIssuers, issuer) ? claimsOfPublicIssuers[issuer] : undefined
  if (naming && !rules.some(({ claim }) => naming.includes(claim))) {
    throw invalid(
      'rules',
      'invalid_input',
      `\`rules\` needs one for a claim that names the workload, such as ${naming.slice(0, 2).join(' or ')}.`,
    )
  }
}

/** The first rule that does not hold. */
export const brokenRule = (
  rules: readonly ClaimRule[],
  claims: Readonly<Record<string, unknown>>,
): ClaimRule | undefined =>
  rules.find(({ claim, match, value }) => {
    const actual = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    if (typeof actual !== 'string') return true
    return match === 'exact' ? actual !== value : !actual.startsWith(value)
  })
