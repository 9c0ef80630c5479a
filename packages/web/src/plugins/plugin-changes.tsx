import type { ActivityEntry } from '@halyard/contract'
import { Stack, Text } from '@mantine/core'
import { useMessages } from '../i18n/language.tsx'
import { TextDiff } from './text-diff.tsx'

type Change = NonNullable<ActivityEntry['detail']['changes']>[number]

interface Props {
  changes: readonly Change[]
  /** Includes derived fields, such as capabilities. */
  isWhole?: boolean
}

/** A diff per field and file, for past changes and upgrade previews. */
export function PluginChanges({ changes, isWhole = false }: Props) {
  return (
    <Stack gap="sm">
      {(isWhole ? changes : worthShowing(changes)).map(change => (
        <ShownChange key={change.field} change={change} />
      ))}
    </Stack>
  )
}

/** Fields derived from plugin.json and the code, which would repeat its diff. */
const derived = new Set(['config_schema', 'public_jobs', 'capabilities'])
const isFileName = (field: string | null): boolean => field !== null && /\.[A-Za-z0-9]+$/.test(field)

function worthShowing(changes: readonly Change[]): readonly Change[] {
  const isOfFiles = changes.some(({ field }) => isFileName(field))
  return isOfFiles ? changes.filter(({ field }) => field === null || !derived.has(field)) : changes
}

function ShownChange({ change }: { change: Change }) {
  const t = useMessages()
  const names: Record<string, string> = t.plugins.fields
  return (
    <div>
      {change.field !== null && (
        <Text size="sm" fw={600} mb={4}>
          {names[change.field] ?? change.field}
        </Text>
      )}
      <TextDiff before={textOf(change.before)} after={textOf(change.after)} isCode={isFileName(change.field)} />
    </div>
  )
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
