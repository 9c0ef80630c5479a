import { canEditAllFlags, editFlagsLevel, isAdmin } from '../services/permissions.ts'

/** Why a member can edit or only view flags; the first rule that applies decides, as on the server. */
export interface EffectiveAccess {
  readonly canEdit: boolean
  readonly because: 'admin' | 'organization' | 'role' | 'default'
  /** Flags that a role of the member can edit although it cannot edit all. */
  readonly extraFlags: readonly string[]
}

interface Role {
  readonly feature_flags_access_level: number
  /** Email addresses and flag keys, joined by commas. */
  readonly members: string
  readonly associated_flags: string
}

interface Settings {
  readonly roles: readonly Role[]
  /** The setting for the whole organization, if there is one. */
  readonly organizationAccess: number | undefined
  /** For members without a role. */
  readonly defaultAccess: number
}

export function effectiveAccess(
  member: { readonly level: number; readonly user: { readonly email: string } },
  { roles, organizationAccess, defaultAccess }: Settings,
): EffectiveAccess {
  const own = roles.filter(role => listOf(role.members).includes(member.user.email))
  if (isAdmin(member.level)) return { canEdit: true, because: 'admin', extraFlags: [] }
  if (organizationAccess === editFlagsLevel) return { canEdit: true, because: 'organization', extraFlags: [] }
  if (own.length > 0) {
    const canEdit = own.some(canEditAllFlags)
    const extraFlags = canEdit ? [] : [...new Set(own.flatMap(role => listOf(role.associated_flags)))].sort()
    return { canEdit, because: 'role', extraFlags }
  }
  const isSet = organizationAccess !== undefined
  const level = organizationAccess ?? defaultAccess
  return { canEdit: level >= editFlagsLevel, because: isSet ? 'organization' : 'default', extraFlags: [] }
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
