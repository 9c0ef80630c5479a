import { Text } from '@mantine/core'
import { useMessages } from '../i18n/language.tsx'
import { DataTable } from '../ui/data/data-table.tsx'

export function PropertyTable({ properties }: { properties: Readonly<Record<string, unknown>> }) {
  const t = useMessages()
  const rows = Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return <Text size="sm">{t.persons.noProperties}</Text>
  return (
    <DataTable
      label={t.persons.properties}
      head={[t.editor.property, t.editor.value]}
      rows={rows.map(([key, value]) => ({
        key,
        cells: [
          key,
          <Text key="value" size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </Text>,
        ],
      }))}
    />
  )
}
