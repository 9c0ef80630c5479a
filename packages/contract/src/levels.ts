/**
 * Membership levels of an organization, a ladder: a level has the rights of those below it. 1, 8 and 15 are PostHog's. Auditors are
 * below it: they read the audit log and their own account, nothing else.
 */
export const auditorLevel = -1
export const viewOnlyLevel = 0
export const memberLevel = 1
export const adminLevel = 8
export const ownerLevel = 15

export const levels = [auditorLevel, viewOnlyLevel, memberLevel, adminLevel, ownerLevel] as const
export type Level = (typeof levels)[number]
export const levelsText = '-1 auditor, 0 view only, 1 member, 8 admin, 15 owner'
