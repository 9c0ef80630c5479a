import { Button, Stack } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { PlusIcon } from '../../ui/icons.tsx'
import { PropertyRow } from '../editor/conditions/property-row.tsx'
import type { DraftProblem } from '../editor/draft-problems.ts'
import { type Editing, EditingContext } from '../editor/editor-context.ts'
import type { Property } from '../filters.ts'

interface Props {
  projectId: string
  properties: readonly Property[]
  /** Validation messages by path, such as `[0].key`. */
  problems: readonly DraftProblem[]
  onChange: (properties: readonly Property[]) => void
}

/** Event filters need no flag context. */
const nothingAround = {
  isCohort: false,
  isEvent: true,
  flagId: 0,
  flags: [],
  cohorts: [],
  groupTypes: {},
  variantKeys: [],
  groupTypeIndex: null,
  propertyNames: [],
}

/** Restricts which events count by their properties. */
export function EventFilters({ projectId, properties, problems, onChange }: Props) {
  const t = useMessages()
  const editing = useMemo(
    (): Editing => ({
      ...nothingAround,
      projectId,
      problemsAt: path => problems.filter(each => each.path.startsWith(path)).map(({ message }) => message),
    }),
    [projectId, problems],
  )
  const [addedAt, setAddedAt] = useState<number>()
  const add = (property: Property) => {
    setAddedAt(properties.length)
    onChange([...properties, property])
  }
  const replace = (at: number, ...next: Property[]) =>
    onChange(properties.flatMap((old, index) => (index === at ? next : [old])))
  return (
    <EditingContext.Provider value={editing}>
      <Stack gap="xs" align="stretch">
        {properties.map((property, index) => (
          <PropertyRow
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
            key={index}
            joint={index === 0 ? t.editor.where : t.editor.and}
            path={`[${index}]`}
            property={property}
            isNew={addedAt === index}
            onChange={next => replace(index, next)}
            onRemove={() => replace(index)}
          />
        ))}
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ alignSelf: 'flex-start' }}
          leftSection={<PlusIcon size={14} />}
          onClick={() => add({ key: '', type: 'person', operator: 'exact', value: [] })}
        >
          {t.rollback.addFilter}
        </Button>
      </Stack>
    </EditingContext.Provider>
  )
}
