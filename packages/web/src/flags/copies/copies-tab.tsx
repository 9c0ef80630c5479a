import { type Flag, type Project, routes } from '@halyard/contract'
import { Badge, Button, Checkbox, Group, Stack, Switch, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProjects } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import type { Wording } from '../flag-sentences.ts'
import { describeState } from '../flag-summary.ts'
import type { TabProps } from '../flag-tabs.ts'
import type { FieldChange } from '../history/change-list.tsx'
import { useWording } from '../use-wording.ts'
import { copiedValues, differencesOf } from './copy-differences.ts'
import { CopyPreview, type Target } from './copy-preview.tsx'
import { type FlagInProject, flagInProjectsKey, useFlagInProjects } from './flag-in-projects.ts'

const represented = { prefer: 'return=representation' }

/** The flag in each project of the organization, the differences, and copying it there. */
export function CopiesTab(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const projects = useProjects().data
  const others = useMemo(
    () => (projects ?? []).filter(each => each.organization === project.organization && each.id !== project.id),
    [projects, project],
  )
  const wording = useWording(props)
  const [chosen, setChosen] = useState<readonly number[]>([])
  const [isOff, setIsOff] = useState(true)
  const [isAsking, setIsAsking] = useState(false)
  const copies = useFlagInProjects(flag.key, others)
  const copied: Flag = { ...flag, active: flag.active && !isOff }

  const targetOf = (other: Project, found: FlagInProject | undefined): Target => {
    const theirs = found?.flag
    const words: Wording = {
      ...wording,
      groupTypes: other.group_types,
      cohortName: id => found?.cohortNames[id] ?? `#${id}`,
      flagKey: id => found?.flagKeys[id] ?? `#${id}`,
    }
    const against = (mine: Flag) =>
      theirs ? differencesOf({ flag: theirs, wording: words }, { flag: mine, wording }) : copiedValues(mine)
    return { project: other, flag: theirs, wording: words, differences: against(flag), changes: against(copied) }
  }
  const copy = async () => {
    await call(routes.organizationFlags.copy, {
      params: { parent_lookup_organization_id: project.organization },
      body: {
        feature_flag_key: flag.key,
        from_project: project.id,
        target_project_ids: [...chosen],
        disable_copied_flag: isOff,
      },
      headers: represented,
    })
    notify.success({ message: t.copies.copied(chosen.length) })
    setChosen([])
    await queries.invalidateQueries({ queryKey: flagInProjectsKey })
    for (const id of chosen) await queries.invalidateQueries({ queryKey: ['flags', String(id)] })
  }
  const toggle = (id: number) => setChosen(old => (old.includes(id) ? old.filter(each => each !== id) : [...old, id]))
  if (others.length === 0) return <Text size="sm">{t.copies.noOtherProjects}</Text>
  return (
    <Loaded query={copies}>
      {found => {
        const targets = others.map(other => targetOf(other, found.get(other.id)))
        return (
          <Stack>
            <Text size="sm" c="dimmed">
              {t.copies.intro}
            </Text>
            <Matrix here={props} targets={targets} chosen={chosen} onToggle={toggle} />
            <Group>
              <Switch
                label={t.copies.startOff}
                checked={isOff}
                onChange={event => setIsOff(event.currentTarget.checked)}
              />
              <Button disabled={chosen.length === 0} onClick={() => setIsAsking(true)}>
                {t.copies.preview}
              </Button>
            </Group>
            {isAsking && (
              <CopyPreview
                targets={targets.filter(target => chosen.includes(target.project.id))}
                wording={wording}
                onCopy={copy}
                onClose={() => setIsAsking(false)}
              />
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

interface MatrixProps {
  here: TabProps
  targets: readonly Target[]
  chosen: readonly number[]
  onToggle: (projectId: number) => void
}

function Matrix({ here, targets, chosen, onToggle }: MatrixProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const stateIn = ({ group_types }: Project, flag: Flag) =>
    describeState(flag, { t, percent, groupTypes: group_types }).text
  return (
    <DataTable
      label={t.copies.title}
      head={[t.shell.project, t.copies.state, t.copies.difference, t.copies.copyHere]}
      rows={[
        {
          key: here.project.id,
          cells: [t.copies.here(here.project.name), stateIn(here.project, here.flag), '', ''],
        },
        ...targets.map(({ project, flag, differences }) => ({
          key: project.id,
          cells: [
            flag ? (
              <Link
                key="project"
                to="/project/$projectId/flags/$flagId"
                params={{ projectId: String(project.id), flagId: String(flag.id) }}
              >
                {project.name}
              </Link>
            ) : (
              project.name
            ),
            flag ? stateIn(project, flag) : '–',
            <Difference key="difference" isThere={flag !== undefined} differences={differences} />,
            <Checkbox
              key="copy"
              aria-label={t.copies.copyTo(project.name)}
              checked={chosen.includes(project.id)}
              onChange={() => onToggle(project.id)}
            />,
          ],
        })),
      ]}
    />
  )
}

function Difference({ isThere, differences }: { isThere: boolean; differences: readonly FieldChange[] }) {
  const t = useMessages()
  const names: Record<string, string> = t.fields
  const [color, text] = !isThere
    ? ['gray', t.copies.missing]
    : differences.length === 0
      ? ['green', t.copies.same]
      : ['yellow', differences.map(({ field }) => names[field] ?? field).join(', ')]
  return (
    <Badge variant="light" color={color}>
      {text}
    </Badge>
  )
}
