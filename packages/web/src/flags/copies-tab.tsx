import { type Flag, type Project, routes } from '@halyard/contract'
import { Badge, Button, Checkbox, Group, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useProjects } from '../api/queries.ts'
import { useNotify } from '../app/notify.ts'
import { PlainTable } from '../app/plain-table.tsx'
import { ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useFormats, useMessages } from '../messages/language.tsx'
import type { TabProps } from './flag-page.tsx'
import { describeState } from './flag-state.ts'

const represented = { prefer: 'return=representation' }

/** The flag in each project of the organization, what differs, and copying it there. */
export function CopiesTab({ flag, project }: TabProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const others = (useProjects().data ?? []).filter(
    each => each.organization === project.organization && each.id !== project.id,
  )
  const [chosen, setChosen] = useState<readonly number[]>([])
  const [isDisabled, setIsDisabled] = useState(true)
  const queryKey = ['flag-copies', project.organization, flag.key, others.map(({ id }) => id).join()]
  const copies = useQuery({
    queryKey,
    queryFn: async () => new Map(await Promise.all(others.map(other => findIn(other)))),
  })
  const findIn = async (other: Project): Promise<[number, Flag | undefined]> => {
    const { results } = await call(routes.flags.list, {
      params: { project_id: String(other.id) },
      query: { search: flag.key, limit: '1000' },
    })
    return [other.id, results.find(({ key }) => key === flag.key)]
  }
  const copy = useMutation({
    mutationFn: () =>
      call(routes.organizationFlags.copy, {
        params: { parent_lookup_organization_id: project.organization },
        body: {
          feature_flag_key: flag.key,
          from_project: project.id,
          target_project_ids: [...chosen],
          disable_copied_flag: isDisabled,
        },
        headers: represented,
      }),
    onSuccess: async () => {
      notify.tell({ message: t.copies.copied(chosen.length) })
      setChosen([])
      await queries.invalidateQueries({ queryKey: ['flag-copies'] })
      for (const id of chosen) await queries.invalidateQueries({ queryKey: ['flags', String(id)] })
    },
  })
  const toggle = (id: number) => setChosen(old => (old.includes(id) ? old.filter(each => each !== id) : [...old, id]))
  if (others.length === 0) return <Text size="sm">{t.copies.alone}</Text>
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.copies.intro}
      </Text>
      <ProblemAlert error={copy.error} />
      <PlainTable
        label={t.copies.title}
        head={[t.shell.project, t.copies.state, t.copies.difference, t.copies.copyHere]}
        rows={others.map(other => {
          const theirs = copies.data?.get(other.id)
          return {
            key: other.id,
            cells: [
              theirs ? (
                <Link
                  key="project"
                  to="/project/$projectId/flags/$flagId"
                  params={{ projectId: String(other.id), flagId: String(theirs.id) }}
                >
                  {other.name}
                </Link>
              ) : (
                other.name
              ),
              theirs ? describeState(theirs, { t, percent, groupTypes: other.group_types }).text : t.copies.missing,
              <Difference key="difference" mine={flag} theirs={theirs} />,
              <Checkbox
                key="copy"
                aria-label={t.copies.copyTo(other.name)}
                checked={chosen.includes(other.id)}
                onChange={() => toggle(other.id)}
              />,
            ],
          }
        })}
      />
      <Group>
        <Switch
          label={t.copies.startOff}
          checked={isDisabled}
          onChange={event => setIsDisabled(event.currentTarget.checked)}
        />
        <Button disabled={chosen.length === 0} loading={copy.isPending} onClick={() => copy.mutate()}>
          {t.copies.copy(chosen.length)}
        </Button>
      </Group>
    </Stack>
  )
}

function Difference({ mine, theirs }: { mine: Flag; theirs: Flag | undefined }) {
  const t = useMessages()
  if (!theirs)
    return (
      <Badge variant="light" color="gray">
        {t.copies.missing}
      </Badge>
    )
  const names: Record<string, string> = t.fields
  const differs = (['active', 'filters', 'name', 'tags'] as const).filter(
    field => JSON.stringify(mine[field]) !== JSON.stringify(theirs[field]),
  )
  if (differs.length === 0)
    return (
      <Badge variant="light" color="green">
        {t.copies.same}
      </Badge>
    )
  return (
    <Badge variant="light" color="yellow">
      {differs.map(field => names[field]).join(', ')}
    </Badge>
  )
}
