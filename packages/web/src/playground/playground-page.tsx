import { type PlaygroundRow, type PlaygroundValue, playgroundPeopleMax, routes } from '@halyard/contract'
import { Alert, Badge, Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { downloadText, toCsv } from '../ui/data/csv.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { DraftFields, noDraft, readDraft } from './draft-fields.tsx'
import { parsePeople, parseProperties } from './parse-people.ts'

/** Evaluates flags for many people at once. */
export function PlaygroundPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/playground' })
  const call = useCall()
  const [people, setPeople] = useState('')
  const [whatIf, setWhatIf] = useState('')
  const [keys, setKeys] = useState('')
  const [draft, setDraft] = useState(noDraft)
  const parsed = parsePeople(people)
  const filters = readDraft(draft)
  const flagKeys = keys
    .split(/[\s,]+/)
    .filter(key => key !== '')
    .slice(0, 200)
  const evaluate = useMutation({
    mutationFn: async () => {
      const evaluated = await call(routes.playground.evaluate, {
        params: { project_id: projectId },
        body: {
          people: (parsed ?? []).map(person => ({ ...person })),
          person_properties: parseProperties(whatIf),
          // A draft is compared with the flag itself.
          ...(flagKeys.length > 0 && { flag_keys: [...new Set([...flagKeys, ...(filters ? [draft.key] : [])])] }),
          ...(filters && { draft: { flag_id: Number(draft.flagId), filters } }),
        },
      })
      return { ...evaluated, draftKey: draft.key }
    },
  })
  const unknownFlag = fieldProblem(t, evaluate.error, 'flag_keys')
  const isTooMany = (parsed?.length ?? 0) > playgroundPeopleMax
  const isReady = parsed !== undefined && parsed.length > 0 && !isTooMany && (draft.flagId === '' || filters)
  return (
    <Page title={t.playground.title} intro={t.playground.intro} wide>
      <Stack>
        <PeopleField value={people} count={parsed?.length} onChange={setPeople} />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Textarea
            label={t.playground.whatIf}
            description={t.playground.whatIfHint}
            placeholder="plan = pro"
            autosize
            minRows={1}
            spellCheck={false}
            value={whatIf}
            onChange={event => setWhatIf(event.currentTarget.value)}
          />
          <TextInput
            label={t.playground.flags}
            description={t.playground.flagsHint}
            placeholder="new-checkout, search-v2"
            spellCheck={false}
            value={keys}
            error={unknownFlag}
            onChange={event => setKeys(event.currentTarget.value)}
          />
        </SimpleGrid>
        <DraftFields projectId={projectId} draft={draft} onChange={setDraft} />
        <Group>
          <Button disabled={!isReady} loading={evaluate.isPending} onClick={() => evaluate.mutate()}>
            {t.playground.evaluate}
          </Button>
          {parsed && parsed.length > 0 && (
            <Text size="sm" c="dimmed">
              {t.playground.count(parsed.length)}
            </Text>
          )}
        </Group>
        {!unknownFlag && <ProblemAlert error={evaluate.error} />}
        {evaluate.data && <Results {...evaluate.data} />}
      </Stack>
    </Page>
  )
}

interface PeopleProps {
  value: string
  /** Undefined: not readable. */
  count: number | undefined
  onChange: (text: string) => void
}

function PeopleField({ value, count, onChange }: PeopleProps) {
  const t = useMessages()
  const isTooMany = (count ?? 0) > playgroundPeopleMax
  return (
    <Textarea
      label={t.playground.people}
      description={t.playground.peopleHint(playgroundPeopleMax)}
      placeholder={'user-1\nuser-2'}
      autosize
      minRows={3}
      maxRows={12}
      spellCheck={false}
      value={value}
      error={
        count === undefined
          ? t.playground.brokenJson
          : isTooMany
            ? t.playground.tooMany(playgroundPeopleMax)
            : undefined
      }
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

const textOf = ({ value }: PlaygroundValue): string => String(value)

interface ResultsProps {
  flags: readonly string[]
  results: readonly PlaygroundRow[]
  draftKey: string
}

function Results({ flags, results, draftKey }: ResultsProps) {
  const t = useMessages()
  const hasDraft = results.some(({ draft }) => draft !== null)
  const differs = ({ draft, values }: PlaygroundRow) => draft !== null && draft.value !== values[draftKey]?.value
  const head = [t.playground.person, ...flags, ...(hasDraft ? [t.playground.draftOf(draftKey)] : [])]
  const exported = [
    ['distinct_id', ...flags, ...(hasDraft ? ['draft'] : [])],
    ...results.map(({ distinct_id, values, draft }) => [
      distinct_id,
      ...flags.map(key => (values[key] ? textOf(values[key]) : '')),
      ...(hasDraft ? [draft ? textOf(draft) : ''] : []),
    ]),
  ]
  return (
    <Stack role="region" aria-label={t.playground.results}>
      <Group justify="flex-end" gap="xs">
        {hasDraft && (
          <Text size="sm" flex={1} miw={200}>
            {t.playground.differing(results.filter(differs).length, results.length)}
          </Text>
        )}
        <Button variant="default" size="xs" onClick={() => downloadText('playground.csv', 'text/csv', toCsv(exported))}>
          {t.playground.exportCsv}
        </Button>
        <Button
          variant="default"
          size="xs"
          onClick={() => downloadText('playground.json', 'application/json', JSON.stringify(results, null, 2))}
        >
          {t.playground.exportJson}
        </Button>
      </Group>
      {results.some(row => row.is_incomplete) && <Alert color="yellow">{t.playground.incomplete}</Alert>}
      <DataTable
        isMatrix
        label={t.playground.results}
        head={head}
        rows={results.map((row, index) => ({
          key: index,
          cells: [
            row.distinct_id,
            ...flags.map(key => <Value key={key} of={row.values[key]} />),
            ...(hasDraft ? [<Value key="draft" of={row.draft ?? undefined} isChanged={differs(row)} />] : []),
          ],
        }))}
      />
    </Stack>
  )
}

function Value({ of, isChanged = false }: { of: PlaygroundValue | undefined; isChanged?: boolean }) {
  const t = useMessages()
  if (!of) return null
  const label = of.value === true ? t.preview.on : of.value === false ? t.preview.off : of.value
  return (
    <Group gap={4} wrap="nowrap">
      <Badge color={of.value === false ? 'gray' : 'green'} variant="light" radius="sm" title={of.payload ?? of.reason}>
        {label}
      </Badge>
      {isChanged && (
        <Badge color="yellow" variant="light" radius="sm">
          {t.playground.changed}
        </Badge>
      )}
    </Group>
  )
}
