import { adminLevel, auditorLevel, memberLevel, ownerLevel, viewOnlyLevel } from '@halyard/contract/levels'
import { useMessages } from '../i18n/language.tsx'

/** What a level is called. */
export function useLevelName(): (level: number) => string {
  const { members } = useMessages()
  const names = new Map<number, string>([
    [auditorLevel, members.auditor],
    [viewOnlyLevel, members.viewOnly],
    [memberLevel, members.member],
    [adminLevel, members.admin],
    [ownerLevel, members.owner],
  ])
  return level => names.get(level) ?? String(level)
}
