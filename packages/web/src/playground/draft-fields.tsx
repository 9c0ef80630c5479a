import { routes } from '@halyard/contract'
import { Autocomplete, Button, Group, Stack, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'

/** Unsaved filters of a flag. */
export interface Draft {
  /** Empty without a draft. */
  readonly flagId: string
  readonly key: string
  /** Filters as JSON. */
  readonly text: string
}

export const noDraft: Draft = { flagId: '', key: '', text: '' }

const suggestionsMax = '8'
const waitMilliseconds = 200

/** Undefined without a draft, or when it is no JSON object. */
export function readDraft({ flagId, text }: Pick<Draft, 'flagId' | 'text'>): Record<string, unknown> | undefined {
  if (flagId === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

interface Props {
  projectId: string
  draft: Draft
  onChange: (draft: Draft) => void
}

/** Chooses a flag, whose filters can then be changed without saving them. */
export function DraftFields({ projectId, draft, onChange }: Props) {
  const t = useMessages()
  const call = useCall()
  const [key, setKey] = useState('')
  const [search] = useDebouncedValue(key, waitMilliseconds)
  const matches = useQuery({
    queryKey: ['flags-found', projectId, 'playground', search],
    queryFn: ({ signal }) =>
      call(routes.flags.list, {
        params: { project_id: projectId },
        query: { search, limit: suggestionsMax },
        signal,
      }),
    staleTime: 30_000,
  })
  const flags = matches.data?.results ?? []
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        <Autocomplete
          label={t.playground.compare}
          description={t.playground.compareHint}
          miw={240}
          maw={480}
          flex={1}
          data={flags.map(flag => flag.key)}
          filter={({ options }) => options}
          value={key}
          onChange={setKey}
          onOptionSubmit={chosen => {
            const flag = flags.find(each => each.key === chosen)
            if (flag) onChange({ flagId: String(flag.id), key: flag.key, text: JSON.stringify(flag.filters, null, 2) })
          }}
        />
        {draft.flagId !== '' && (
          <Button
            variant="default"
            onClick={() => {
              setKey('')
              onChange(noDraft)
            }}
          >
            {t.playground.withoutDraft}
          </Button>
        )}
      </Group>
      {draft.flagId !== '' && (
        <Textarea
          label={t.playground.draftFilters}
          autosize
          minRows={4}
          maxRows={20}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          value={draft.text}
          error={readDraft(draft) === undefined && t.playground.brokenJson}
          onChange={event => onChange({ ...draft, text: event.currentTarget.value })}
        />
      )}
    </Stack>
  )
}
