import { type EnvironmentSet, type Flag, type FlagAcrossEnvironments, type Project, routes } from '@halyard/contract'
import { Badge, Button, Group, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useOfferActions } from '../../services/palette-actions.ts'
import { useCall } from '../../services/services.ts'
import { useProjects } from '../../services/session-queries.ts'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { flagKey } from '../flag-cache.ts'
import { describeState } from '../flag-summary.ts'
import { useEnvironmentSetOf } from './environment-queries.ts'
import classes from './side-by-side.module.css'

const PromoteDialog = lazyComponent(async () => (await import('./promote-dialog.tsx')).PromoteDialog)

interface Props {
  flag: Flag
  project: Project
}

/** The flag in every environment of its project, one sentence each. Nothing for a project without environments. */
export function EnvironmentStrip({ flag, project }: Props) {
  const { set } = useEnvironmentSetOf(project)
  const call = useCall()
  const row = useQuery({
    queryKey: ['environment-flags', set?.id, 'one', flag.key, flag.version],
    queryFn: async ({ signal }) => {
      const params = { parent_lookup_organization_id: project.organization, set_id: String(set?.id) }
      const { results } = await call(routes.environments.flags, { params, query: { search: flag.key }, signal })
      return results.find(({ key }) => key === flag.key) ?? null
    },
    enabled: set !== undefined && !flag.deleted && !flag.archived,
  }).data
  const isShown = set !== undefined && row !== null && !flag.deleted && !flag.archived
  return isShown ? <Strip flag={flag} project={project} set={set} row={row} /> : null
}

interface StripProps extends Props {
  set: EnvironmentSet
  /** Undefined until it is known; the strip has its height already. */
  row: FlagAcrossEnvironments | undefined
}

function Strip({ flag, project, set, row }: StripProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const call = useCall()
  const navigate = useNavigate()
  const projects = useProjects().data ?? []
  const [isPromoting, setIsPromoting] = useState(false)
  const flags = useQueries({
    queries: (row?.environments ?? []).map(({ project: id, flag_id }) => ({
      queryKey: flagKey(String(id), flag_id ?? 0),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call(routes.flags.get, { params: { project_id: String(id), id: String(flag_id) }, signal }),
      enabled: flag_id !== null,
    })),
  })
  const visible = set.environments.filter(
    each => row === undefined || row.environments.some(({ project: id }) => id === each.project),
  )
  const flagIn = (id: number) => row?.environments.find(each => each.project === id)?.flag_id ?? null
  useOfferActions(
    visible.flatMap(({ project: id, name }) => {
      const there = flagIn(id)
      if (there === null || id === project.id) return []
      const params = { projectId: String(id), flagId: String(there) }
      const run = () => navigate({ to: '/project/$projectId/flags/$flagId', params })
      return [{ id: `environment ${id}`, label: t.environments.openIn(flag.key, name), run }]
    }),
  )
  const sentenceOf = (index: number, projectId: number): string => {
    const environmentFlag = flags[index]?.data
    const groupTypes = projects.find(({ id }) => id === projectId)?.group_types ?? {}
    return environmentFlag ? describeState(environmentFlag, { t, percent, groupTypes }).text : '…'
  }
  return (
    <section aria-label={t.environments.strip}>
      <Group justify="space-between" mb={4}>
        <Badge variant="light" color={row === undefined ? 'gray' : row.differs ? 'yellow' : 'green'}>
          {row === undefined ? '…' : row.differs ? t.environments.different : t.environments.same}
        </Badge>
        {flag.can_edit && visible.length > 1 && (
          <Button size="compact-sm" variant="default" onClick={() => setIsPromoting(true)}>
            {t.environments.promote}
          </Button>
        )}
      </Group>
      <ul className={classes.strip}>
        {visible.map(({ project: id, name, is_production }, index) => {
          const there = flagIn(id)
          const isHere = id === project.id
          return (
            <li key={id} className={classes.environment} data-here={isHere || undefined}>
              <Text size="sm" {...(is_production && { fw: 700 })}>
                {there === null || isHere ? (
                  name
                ) : (
                  <Link
                    to="/project/$projectId/flags/$flagId"
                    params={{ projectId: String(id), flagId: String(there) }}
                  >
                    {name}
                  </Link>
                )}
                {isHere && ` · ${t.environments.here}`}
              </Text>
              <Text size="xs" c="dimmed" className={classes.state as string}>
                {row !== undefined && there === null ? t.environments.missing : sentenceOf(index, id)}
              </Text>
            </li>
          )
        })}
      </ul>
      <Suspense fallback={null}>
        {isPromoting && (
          <PromoteDialog
            organizationId={project.organization}
            set={set}
            keys={[flag.key]}
            from={project.id}
            onClose={() => setIsPromoting(false)}
          />
        )}
      </Suspense>
    </section>
  )
}
