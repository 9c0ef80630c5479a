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

/** Raises `invalid` for rules that would accept tokens of strangers. */
export function checkRules(rules: readonly ClaimRule[]): void {
  if (rules.length === 0) {
    throw invalid('rules', 'required', '`rules` needs at least one rule, such as an exact `sub`.')
  }
  for (const { claim, match, value } of rules) {
    if (claimsOfEveryone.has(claim)) {
      throw invalid('rules', 'invalid_input', `\`rules\` cannot use \`${claim}\`: it does not identify the workload.`)
    }
    // "repo:acme" would also accept "repo:acme-evil".
    if (match === 'prefix' && /[\p{L}\p{N}]$/u.test(value)) {
      throw invalid(
        'rules',
        'invalid_input',
        '`rules` has a prefix that must end with a separator, such as "/" or ":".',
      )
    }
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
