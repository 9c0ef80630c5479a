import { adminLevel, auditorLevel, levels, memberLevel, ownerLevel } from '@halyard/contract/levels'

/** Admins, owners and auditors. */
export const canReadAudit = (level: number): boolean => isAdmin(level) || level === auditorLevel

/** From this `feature_flags_access_level` on, a role can edit every flag. */
export const editFlagsLevel = 37

export const isAdmin = (level: number | null | undefined): boolean => (level ?? 0) >= adminLevel

/** Below are view-only members and auditors. */
export const canWrite = (level: number | null | undefined): boolean => (level ?? 0) >= memberLevel

export const canEditAllFlags = (role: { readonly feature_flags_access_level: number }): boolean =>
  role.feature_flags_access_level >= editFlagsLevel

interface Viewer {
  readonly level: number
  readonly uuid: string | undefined
}

interface Member {
  readonly level: number
  readonly user: { readonly uuid: string }
}

/** Admins change members up to their own level, but not themselves. */
export const canChangeLevel = (viewer: Viewer, { level, user }: Member): boolean =>
  isAdmin(viewer.level) && level <= viewer.level && user.uuid !== viewer.uuid

/** Admins remove members up to their own level, everyone can leave. The last owner has to stay. */
export function canRemoveMember(viewer: Viewer, member: Member, members: readonly Member[]): boolean {
  const isLastOwner = member.level === ownerLevel && members.filter(({ level }) => level === ownerLevel).length === 1
  if (isLastOwner) return false
  return member.user.uuid === viewer.uuid || (isAdmin(viewer.level) && member.level <= viewer.level)
}

/** The levels that the viewer can give to others. */
export const assignableLevels = (viewer: Viewer): number[] =>
  isAdmin(viewer.level) ? levels.filter(level => level <= viewer.level) : []

/** Whether members without a role can edit flags. */
export const canEditByDefault = (
  settings: { readonly organizationAccess: number | undefined; readonly defaultAccess: number } | undefined,
): boolean => (settings?.organizationAccess ?? settings?.defaultAccess ?? editFlagsLevel) >= editFlagsLevel
