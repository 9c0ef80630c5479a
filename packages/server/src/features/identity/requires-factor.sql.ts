import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../storage/tables.generated.ts'
import { ownerLevel } from '../../tenancy.ts'

/**
 * Whether an organization needs a second factor of its member: of everyone, or of the owner where single sign-on is required, because
 * nothing else protects this way around it.
 */
export const requiresFactor = ({ or, and, eb }: ExpressionBuilder<Tables, 'organizations' | 'memberships'>) =>
  or([
    eb('organizations.requires_second_factor', '=', 1),
    and([eb('organizations.requires_single_sign_on', '=', 1), eb('memberships.level', '=', ownerLevel)]),
  ])
