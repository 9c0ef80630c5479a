import { viewOnlyLevel } from '@halyard/contract/levels'
import type { ComponentType } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { canReadAudit, canWrite, isAdmin } from '../services/permissions.ts'
import { useMembershipLevel } from '../services/session-queries.ts'
import {
  BuildingIcon,
  CheckIcon,
  CircleIcon,
  ClockIcon,
  CodeIcon,
  FlagIcon,
  GearIcon,
  GraphIcon,
  HomeIcon,
  LayersIcon,
  PersonIcon,
  PlugIcon,
  PulseIcon,
  QuestionIcon,
  SnowflakeIcon,
  TableIcon,
  TagIcon,
  UsersIcon,
} from '../ui/icons.tsx'

/** A page in a menu. Its path says whether it belongs to a project or an organization. */
export interface PageLink {
  readonly to: string
  readonly label: string
}

interface Entry extends PageLink {
  readonly Icon: ComponentType<{ size?: number }>
  /** Not current on the pages below it. */
  readonly isExact?: boolean
}

export interface EntryGroup {
  /** None above the first entry. */
  readonly title?: string
  readonly entries: readonly Entry[]
}

/** Whether the page can be opened: its project or organization is the current one. */
export function isWithin({ to }: PageLink, { projectId, organizationId }: ReturnType<typeof useCurrentScope>): boolean {
  return (to.includes('$projectId') ? projectId : organizationId) !== undefined
}

/** The main navigation: home, then four groups. */
export function useEntryGroups(): EntryGroup[] {
  const t = useMessages()
  const scope = useCurrentScope()
  const [organizationSettings] = useOrganizationTabs()
  const groups: EntryGroup[] = [
    { entries: [{ to: '/project/$projectId', label: t.home.title, Icon: HomeIcon, isExact: true }] },
    {
      title: t.shell.release,
      entries: [
        { to: '/project/$projectId/flags', label: t.shell.flags, Icon: FlagIcon },
        { to: '/project/$projectId/requests', label: t.requests.nav, Icon: CheckIcon },
        { to: '/organization/$organizationId/environments', label: t.environments.title, Icon: LayersIcon },
        { to: '/organization/$organizationId/freezes', label: t.freezes.title, Icon: SnowflakeIcon },
        { to: '/project/$projectId/tags', label: t.tagsPage.title, Icon: TagIcon },
      ],
    },
    {
      title: t.shell.audience,
      entries: [
        { to: '/project/$projectId/cohorts', label: t.shell.cohorts, Icon: CircleIcon },
        { to: '/project/$projectId/persons', label: t.shell.persons, Icon: PersonIcon },
        { to: '/project/$projectId/groups', label: t.shell.groups, Icon: BuildingIcon },
      ],
    },
    {
      title: t.shell.insight,
      entries: [
        { to: '/project/$projectId/activity', label: t.shell.activity, Icon: ClockIcon },
        { to: '/project/$projectId/health', label: t.shell.health, Icon: PulseIcon },
        { to: '/project/$projectId/dependencies', label: t.dependencies.title, Icon: GraphIcon },
        { to: '/project/$projectId/debugger', label: t.shell.debugger, Icon: QuestionIcon },
        { to: '/project/$projectId/playground', label: t.shell.playground, Icon: TableIcon },
      ],
    },
    {
      title: t.shell.admin,
      entries: [
        { to: '/project/$projectId/setup', label: t.setup.title, Icon: CodeIcon },
        { to: '/organization/$organizationId/plugins', label: t.shell.plugins, Icon: PlugIcon },
        { to: '/project/$projectId/settings', label: t.shell.projectSettings, Icon: GearIcon },
        ...(organizationSettings
          ? [{ to: organizationSettingsPath, label: t.shell.organizationSettings, Icon: UsersIcon }]
          : []),
      ],
    },
  ]
  return groups.map(group => ({ ...group, entries: group.entries.filter(entry => isWithin(entry, scope)) }))
}

const organizationSettingsPath = '/organization/$organizationId/settings'

/** The pages of the project's settings, in the order of their tabs. */
export function useProjectTabs(): PageLink[] {
  const t = useMessages()
  const level = useMembershipLevel(useCurrentScope().organizationId)
  const path = '/project/$projectId/settings'
  return [
    { to: path, label: t.project.general },
    { to: `${path}/keys`, label: t.project.keys },
    { to: `${path}/policies`, label: t.policies.title },
    ...(isAdmin(level) ? [{ to: `${path}/webhooks`, label: t.webhooks.title }] : []),
    ...(canWrite(level) ? [{ to: `${path}/import`, label: t.imports.tab }] : []),
  ]
}

/** The pages of the organization's settings, in the order of their tabs. An auditor sees the audit log only. */
export function useOrganizationTabs(): PageLink[] {
  const t = useMessages()
  const level = useMembershipLevel(useCurrentScope().organizationId)
  const isMember = level >= viewOnlyLevel
  return [
    ...(isMember
      ? [
          { to: `${organizationSettingsPath}/members`, label: t.shell.members },
          { to: `${organizationSettingsPath}/roles`, label: t.shell.roles },
        ]
      : []),
    ...(isAdmin(level)
      ? [
          { to: `${organizationSettingsPath}/sign-in`, label: t.organization.signIn },
          { to: `${organizationSettingsPath}/provisioning`, label: t.provisioning.title },
          { to: `${organizationSettingsPath}/service-keys`, label: t.serviceKeys.title },
          { to: `${organizationSettingsPath}/trust-relationships`, label: t.trust.title },
        ]
      : []),
    ...(canReadAudit(level) ? [{ to: `${organizationSettingsPath}/audit`, label: t.audit.title }] : []),
  ]
}
