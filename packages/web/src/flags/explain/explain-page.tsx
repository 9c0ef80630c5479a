import { Button, Group, TextInput } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useProject } from '../../services/session-queries.ts'
import { PersonPicker } from '../../subject-pickers/person-picker.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { QuestionIcon, SearchIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { useFirstFocus } from '../../ui/layout/visibility-context.ts'
import { FlagResults } from './flag-results.tsx'

const from = '/shell/project/$projectId/debugger' as const

/** The debugger: every flag with its value for one person and the trace behind it. */
export function ExplainPage() {
  const t = useMessages()
  const { projectId } = useParams({ from })
  const { id = '', groups = '' } = useSearch({ from })
  const navigate = useNavigate()
  const project = useProject(projectId)
  const [distinctId, setDistinctId] = useState(id)
  const [groupKeys, setGroupKeys] = useState<Record<string, string>>(() => readGroups(groups))
  // A link may lead from one person to another on the same page.
  useEffect(() => setDistinctId(id), [id])
  const field = useRef<HTMLInputElement>(null)
  useFirstFocus(field, project !== undefined && id === '')
  const evaluate = (person: string) => {
    const chosen = Object.fromEntries(Object.entries(groupKeys).filter(([, key]) => key !== ''))
    const search = { id: person, ...(Object.keys(chosen).length > 0 && { groups: JSON.stringify(chosen) }) }
    return navigate({ to: '/project/$projectId/debugger', params: { projectId }, search })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    return evaluate(distinctId)
  }
  // The group fields depend on the project; rendering the form earlier would shift the layout.
  if (!project) return <Page title={t.explain.title} intro={t.explain.intro} />
  return (
    <Page title={t.explain.title} intro={t.explain.intro}>
      <form onSubmit={submit}>
        <Group align="flex-end" mb="lg">
          <PersonPicker
            ref={field}
            projectId={projectId}
            value={distinctId}
            onChange={setDistinctId}
            onPick={({ distinct_ids }) => distinct_ids[0] && evaluate(distinct_ids[0])}
          />
          {Object.values(project.group_types).map(type => (
            <TextInput
              key={type}
              label={type}
              w={{ base: '100%', xs: 'auto' }}
              value={groupKeys[type] ?? ''}
              onChange={event => {
                const { value } = event.currentTarget
                setGroupKeys(old => ({ ...old, [type]: value }))
              }}
            />
          ))}
          <Button type="submit" leftSection={<SearchIcon size={16} />} disabled={distinctId === ''}>
            {t.explain.evaluate}
          </Button>
        </Group>
      </form>
      {id === '' ? (
        <EmptyState Icon={QuestionIcon} title={t.explain.emptyTitle} text={t.explain.emptyText} />
      ) : (
        <FlagResults projectId={projectId} id={id} groups={groups} />
      )}
    </Page>
  )
}

function readGroups(text: string): Record<string, string> {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return {}
  }
}
