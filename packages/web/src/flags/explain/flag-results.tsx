import { type EvaluationReason, routes } from '@halyard/contract'
import { Accordion, Alert, Badge, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { resultSentence } from './reason.ts'
import { readTrace } from './trace.ts'
import { TraceView } from './trace-view.tsx'
import { UnknownPerson, useSimilarPeople } from './unknown-person.tsx'

interface Props {
  projectId: string
  /** The person's distinct id. */
  id: string
  /** JSON object of group keys by group type. */
  groups?: string
  /** The heading level of the flag names. */
  headingOrder?: 2 | 3
}

/** Every flag with its value for one person and the trace behind it. */
export function FlagResults({ projectId, id, groups = '', headingOrder = 2 }: Props) {
  const t = useMessages()
  const call = useCall()
  const [search, setSearch] = useState('')
  const query = { distinct_id: id, explain: 'true', ...(groups !== '' && { groups }) }
  const results = useQuery({
    queryKey: ['explain', projectId, id, groups],
    queryFn: ({ signal }) => call(routes.flagEvaluation.reasons, { params: { project_id: projectId }, query, signal }),
    staleTime: 0,
  })
  const { similar, isSettled } = useSimilarPeople(projectId, id)
  return (
    <Loaded query={{ ...results, data: isSettled ? results.data : undefined }}>
      {({ reasons, is_incomplete }) => {
        const shown = Object.entries(reasons)
          .filter(([key]) => key.toLowerCase().includes(search.toLowerCase()))
          .sort(([a], [b]) => (a < b ? -1 : 1))
        return (
          <Stack gap="sm">
            {similar && <UnknownPerson projectId={projectId} id={id} similar={similar} />}
            {is_incomplete && <Alert color="yellow">{t.explain.incomplete}</Alert>}
            <TextInput
              aria-label={t.flags.search}
              placeholder={t.flags.search}
              leftSection={<SearchIcon size={16} />}
              maw={320}
              value={search}
              onChange={event => setSearch(event.currentTarget.value)}
            />
            <Text size="sm" c="dimmed" role="status">
              {t.explain.resultsFor(shown.length, id)}
            </Text>
            <Accordion order={headingOrder} multiple defaultValue={shown.length === 1 ? [shown[0]?.[0] ?? ''] : []}>
              {shown.slice(0, answersShownMax).map(([key, reason]) => (
                <Answer key={key} name={key} reason={reason} projectId={projectId} />
              ))}
            </Accordion>
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** Above this count searching is quicker than scrolling. */
const answersShownMax = 200

function Answer({ name, reason, projectId }: { name: string; reason: EvaluationReason; projectId: string }) {
  const t = useMessages()
  const trace = useMemo(() => readTrace(reason.trace), [reason])
  const sentence = resultSentence(t, reason.evaluation, trace)
  const isGiven = reason.value !== false && reason.evaluation.reason !== 'holdout_condition_value'
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        <Group justify="space-between" wrap="nowrap" gap="sm" pe="sm">
          <div style={{ minWidth: 0 }}>
            <Text size="sm" fw={600} truncate>
              {name}
            </Text>
            <Text size="xs" c="dimmed">
              {sentence}
            </Text>
          </div>
          <Badge variant="light" color={isGiven ? 'green' : 'gray'} size="lg" radius="sm" style={{ flex: 'none' }}>
            {reason.value === true ? t.preview.on : reason.value === false ? t.preview.off : reason.value}
          </Badge>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {trace && trace.conditions.length > 0 ? <TraceView trace={trace} /> : <Text size="sm">{sentence}</Text>}
          {trace && (
            <Text size="sm">
              <Link
                to="/project/$projectId/flags/$flagId"
                params={{ projectId, flagId: String(trace.flag_id) }}
                aria-label={t.explain.openFlagNamed(name)}
              >
                {t.explain.openFlag}
              </Link>
            </Text>
          )}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  )
}
