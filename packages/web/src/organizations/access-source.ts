import type { EffectiveAccess } from '@halyard/contract'
import type { Messages } from '../i18n/en.ts'

/** The rule that decides what a member can do. */
export function accessSource(t: Messages, { source, role }: Pick<EffectiveAccess, 'source' | 'role'>): string {
  if (source === 'role') return t.access.byRole(role?.name ?? '')
  if (source === 'role_access') return t.access.byRoleAccess(role?.name ?? '')
  return t.access.sources[source]
}
