import { Badge, Checkbox, Group, NativeSelect, SegmentedControl, Text } from '@mantine/core'
import { useMessages } from '../i18n/language.tsx'
import { useProjects } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import {
  type AccessLevel,
  accessLevels,
  type KeyAccess,
  type KeyPreset,
  keyPresets,
  noAccess,
  scopesOf,
} from './key-scopes.ts'

/** What a key can do, and in which projects. */
export interface AccessDraft {
  readonly preset: KeyPreset | ''
  readonly access: KeyAccess
  readonly projectIds: readonly string[]
}

export const blankAccess: AccessDraft = { preset: '', access: noAccess, projectIds: [] }

export const draftScopes = ({ preset, access }: AccessDraft): string[] => scopesOf(access, preset === 'full')

interface PresetProps {
  draft: AccessDraft
  /** Whether the choice is required now. */
  hasTried: boolean
  presets?: readonly KeyPreset[]
  onChange: (change: Partial<AccessDraft>) => void
}

const allPresets = Object.keys(keyPresets) as KeyPreset[]

/** The usual purposes of a key. */
export function PresetSelect({ draft, hasTried, presets = allPresets, onChange }: PresetProps) {
  const t = useMessages()
  const choose = (preset: KeyPreset | '') => onChange({ preset, ...(preset !== '' && { access: keyPresets[preset] }) })
  return (
    <NativeSelect
      label={t.account.preset}
      value={draft.preset}
      error={hasTried && draftScopes(draft).length === 0 ? t.account.scopesMissing : undefined}
      onChange={event => choose(event.currentTarget.value as KeyPreset | '')}
      data={[
        { value: '', label: t.account.presets.custom },
        ...presets.map(value => ({ value, label: t.account.presets[value] })),
      ]}
    />
  )
}

interface AccessProps {
  access: KeyAccess
  /** Resources that such a key cannot have. */
  without?: readonly string[]
  onChange: (change: Pick<AccessDraft, 'preset' | 'access'>) => void
}

/** What the key can do with each kind of object. */
export function AccessTable({ access, without = [], onChange }: AccessProps) {
  const t = useMessages()
  const names: Record<string, string> = t.account.resources
  const shown = Object.entries(access).filter(([object]) => !without.includes(object))
  return (
    <DataTable
      label={t.account.scopes}
      head={[t.account.resource, t.account.access]}
      rows={shown.map(([object, level]) => ({
        key: object,
        cells: [
          names[object] ?? object,
          <SegmentedControl
            key="level"
            size="xs"
            aria-label={t.account.accessTo(names[object] ?? object)}
            value={level}
            onChange={next => onChange({ preset: '', access: { ...access, [object]: next as AccessLevel } })}
            data={accessLevels.map(value => ({ value, label: t.account.levels[value] }))}
          />,
        ],
      }))}
    />
  )
}

interface ChoiceProps {
  projectIds: readonly string[]
  /** Undefined offers the projects of all organizations. */
  organizationId?: string
  hint: string
  onChange: (projectIds: string[]) => void
}

/** Restricts the key to some projects, where there are several. */
export function ProjectChoice({ projectIds, organizationId, hint, onChange }: ChoiceProps) {
  const t = useMessages()
  const projects = (useProjects().data ?? []).filter(
    ({ organization }) => organizationId === undefined || organization === organizationId,
  )
  if (projects.length <= 1) return null
  return (
    <Checkbox.Group label={t.account.projects} description={hint} value={[...projectIds]} onChange={onChange}>
      <Group mt="xs">
        {projects.map(({ id, name }) => (
          <Checkbox key={id} value={String(id)} label={name} />
        ))}
      </Group>
    </Checkbox.Group>
  )
}

/** The scopes of a key in a list. */
export function ScopeBadges({ scopes }: { scopes: readonly string[] }) {
  const t = useMessages()
  return (
    <Group gap={4}>
      {scopes.map(scope => (
        <Badge key={scope} variant="light" color="gray" size="sm">
          {scope === '*' ? t.account.fullAccess : scope}
        </Badge>
      ))}
    </Group>
  )
}

/** The projects that a key is limited to. */
export function useProjectNames(): (ids: readonly number[]) => string {
  const t = useMessages()
  const projects = useProjects().data ?? []
  return ids =>
    ids.length === 0
      ? t.keys.allProjects
      : ids.map(id => projects.find(project => project.id === id)?.name ?? `#${id}`).join(', ')
}

/** The name of a key in a list. */
export const KeyName = ({ label, mask }: { label: string; mask: string }) => (
  <span style={{ display: 'inline-block', minWidth: '7rem' }}>
    {label}{' '}
    <Text span size="xs" ff="monospace" c="dimmed">
      {mask}
    </Text>
  </span>
)

const dayMilliseconds = 24 * 60 * 60 * 1000

/** For the API: null never. */
export const expiryAfter = (days: string): string | null =>
  days === '' ? null : new Date(Date.now() + Number(days) * dayMilliseconds).toISOString()

export function ExpirySelect({ days, onChange }: { days: string; onChange: (days: string) => void }) {
  const t = useMessages()
  return (
    <NativeSelect
      label={t.account.expires}
      value={days}
      onChange={event => onChange(event.currentTarget.value)}
      data={[
        ...[7, 90, 365].map(count => ({ value: String(count), label: t.account.inDays(count) })),
        { value: '', label: t.common.never },
      ]}
    />
  )
}
