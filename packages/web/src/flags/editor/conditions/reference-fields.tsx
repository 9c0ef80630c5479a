import { type Flag, routes } from '@halyard/contract'
import { NativeSelect, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../../i18n/language.tsx'
import { useCall } from '../../../services/services.ts'
import { type Property, readFilters } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { negated } from './negation.ts'

/** The validation message of this field. */
export interface Faults {
  readonly key: string | undefined
  readonly operator: string | undefined
  readonly value: string | undefined
}

export interface FieldsProps {
  property: Property
  faults: Faults
  onChange: (property: Property) => void
}

export function CohortFields({ property, faults, onChange }: FieldsProps) {
  const t = useMessages()
  const { cohorts, isCohort } = useEditing()
  const isOut = property.operator === 'not_in' || property.negation === true
  const setNegated = (out: boolean) =>
    onChange(
      isCohort ? negated({ ...property, operator: 'in' }, out) : { ...property, operator: out ? 'not_in' : 'in' },
    )
  const chosen = String(property.value ?? '')
  const cohortOptions = cohorts.map(({ id, name }) => ({ value: String(id), label: name }))
  const options =
    chosen === '' || cohortOptions.some(({ value }) => value === chosen)
      ? cohortOptions
      : [...cohortOptions, { value: chosen, label: `#${chosen}` }]
  return (
    <>
      <NativeSelect
        aria-label={t.editor.operator}
        value={isOut ? 'not_in' : 'in'}
        error={faults.operator}
        onChange={event => setNegated(event.currentTarget.value === 'not_in')}
        data={[
          { value: 'in', label: t.editor.inCohort },
          { value: 'not_in', label: t.editor.notInCohort },
        ]}
        className={classes.field as string}
      />
      <Select
        aria-label={t.editor.cohort}
        placeholder={t.editor.selectCohort}
        searchable
        data={options}
        value={chosen === '' ? null : chosen}
        error={faults.value}
        onChange={value => onChange({ ...property, key: 'id', value: value === null ? '' : Number(value) })}
        nothingFoundMessage={t.editor.noCohorts}
        className={classes.value as string}
      />
    </>
  )
}

/** A project can have thousands of flags, so the server searches them. */
const optionsMax = '50'
const waitMilliseconds = 150
const none: readonly Flag[] = []

function useFoundFlags(projectId: string, text: string): readonly Flag[] {
  const call = useCall()
  const [search] = useDebouncedValue(text.trim(), waitMilliseconds)
  const matches = useQuery({
    queryKey: ['flags-found', projectId, 'pick', search],
    queryFn: ({ signal }) =>
      call(routes.flags.list, {
        params: { project_id: projectId },
        query: { search, order: 'key', limit: optionsMax },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  return matches.data?.results ?? none
}

export function FlagFields({ property, faults, onChange }: FieldsProps) {
  const t = useMessages()
  const { flags, flagId, projectId } = useEditing()
  const [search, setSearch] = useState('')
  const matches = useFoundFlags(projectId, search)
  const flagsById = new Map([...matches, ...flags].map(flag => [flag.id, flag]))
  const target = flagsById.get(Number(property.key))
  const options = [...flagsById.values()]
    .filter(flag => flag.id !== flagId)
    .map(flag => ({ value: String(flag.id), label: flag.key }))
  const variants = target ? readFilters(target.filters).variants.map(({ key }) => ({ value: key, label: key })) : []
  const value = typeof property.value === 'boolean' ? `=${property.value}` : String(property.value ?? '=true')
  const choose = (chosen: string) =>
    onChange({ ...property, value: chosen.startsWith('=') ? chosen === '=true' : chosen })
  return (
    <>
      <Text size="sm" pt={7}>
        {t.editor.theFlag}
      </Text>
      <Select
        aria-label={t.editor.flag}
        placeholder={t.editor.selectFlag}
        searchable
        searchValue={search}
        onSearchChange={setSearch}
        nothingFoundMessage={t.flags.noMatches}
        data={options}
        value={property.key === '' ? null : property.key}
        error={faults.key}
        onChange={key => onChange({ ...property, key: key ?? '' })}
        className={classes.field as string}
      />
      <NativeSelect
        aria-label={t.editor.value}
        value={value}
        error={faults.value}
        onChange={event => choose(event.currentTarget.value)}
        data={[{ value: '=true', label: t.editor.isOn }, { value: '=false', label: t.editor.isOff }, ...variants]}
        className={classes.value as string}
      />
    </>
  )
}
