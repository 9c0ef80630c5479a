import type { Flag, Project } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
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
import { copiedDraft } from './copied-flag.ts'
import { copiedValues, differencesOf } from './copy-differences.ts'
import { CopyPreview, type Target } from './copy-preview.tsx'
import { type FlagInProject, flagInProjectsKey, useFlagInProjects } from './flag-in-projects.ts'
import { copyFlag, undoCopies } from './undo-copy.ts'

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
  const needs = usesFlags(flag.filters).map(id => wording.flagKey(String(id)))
  const copies = useFlagInProjects({ key: flag.key, needs }, others)
  const copied: Flag = { ...flag, active: flag.active && !isOff }

  const targetOf = (other: Project, flagThere: FlagInProject | undefined): Target => {
    const theirs = flagThere?.flag
    const words: Wording = {
      ...wording,
      groupTypes: other.group_types,
      cohortName: id => flagThere?.cohortNames[id] ?? `#${id}`,
      flagKey: id => flagThere?.flagKeys[id] ?? `#${id}`,
    }
    const against = (mine: Flag) =>
      theirs ? differencesOf({ flag: theirs, wording: words }, { flag: mine, wording }) : copiedValues(mine)
    return {
      project: other,
      flag: theirs,
      wording: words,
      differences: against(flag),
      changes: against(copied),
      after: flagThere && copiedDraft(copied, wording, flagThere, other.group_types),
    }
  }
  const refresh = async (ids: readonly number[]) => {
    await queries.invalidateQueries({ queryKey: flagInProjectsKey })
    for (const id of ids) await queries.invalidateQueries({ queryKey: ['flags', String(id)] })
  }
  const copy = async () => {
    const copying = { organizationId: project.organization, key: flag.key, from: project.id, targets: chosen, isOff }
    const results = await copyFlag(call, copying)
    const undo = async () => {
      try {
        const staying = await undoCopies(call, results)
        notify.success({ message: t.copies.undone(results.length, staying) })
      } catch (error) {
        notify.fail(error, flag.key)
      }
      await refresh(chosen)
    }
    notify.success({ message: t.copies.copied(results.length), onUndo: undo })
    setChosen([])
    await refresh(chosen)
  }
  const toggle = (id: number) => setChosen(old => (old.includes(id) ? old.filter(each => each !== id) : [...old, id]))
  if (others.length === 0) return <Text size="sm">{t.copies.noOtherProjects}</Text>
  return (
    <Loaded query={copies}>
      {copyByProject => {
        const targets = others.map(other => targetOf(other, copyByProject.get(other.id)))
        return (
          <Stack>
            <Text size="sm" c="dimmed">
              {flag.can_edit ? t.copies.intro : t.copies.readOnly}
            </Text>
            <Matrix here={props} targets={targets} chosen={chosen} onToggle={toggle} />
            {flag.can_edit && (
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
            )}
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
      head={[t.shell.project, t.copies.state, t.copies.difference, here.flag.can_edit ? t.copies.copyHere : '']}
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
            here.flag.can_edit &&
              (flag && !flag.can_edit ? (
                t.flags.readOnly
              ) : (
                <Checkbox
                  key="copy"
                  aria-label={t.copies.copyTo(project.name)}
                  checked={chosen.includes(project.id)}
                  onChange={() => onToggle(project.id)}
                />
              )),
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
