import { type EnvironmentSet, type PromotionPlan, routes } from '@halyard/contract'
import { Alert, Badge, Button, Checkbox, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohortList, useCohorts } from '../../services/cohort-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { useWording } from '../use-wording.ts'
import {
  defaultParts,
  hasChanges,
  itemChanges,
  needsApproval,
  nextEnvironment,
  type PromotionPart,
  promotionParts,
} from './promotion.ts'
import { SideBySide } from './side-by-side.tsx'

interface Props {
  organizationId: string
  set: EnvironmentSet
  keys: readonly string[]
  /** The project to promote from. */
  from: number
  /** The project to promote to; the next environment by default. */
  to?: number | undefined
  onClose: () => void
}

type Result = { readonly kind: 'promoted' } | { readonly kind: 'requested'; readonly requests: readonly number[] }

const noFlags: readonly never[] = []
const noProject = { group_types: {} }

/** Plans a promotion side by side, then applies exactly that plan. */
export function PromoteDialog({ organizationId, set, keys, from, to: suggested, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const [to, setTo] = useState(() => suggested ?? nextEnvironment(set, from)?.project ?? from)
  const [parts, setParts] = useState<readonly PromotionPart[]>(defaultParts)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [isStale, setIsStale] = useState(false)
  const [result, setResult] = useState<Result>()
  const params = { parent_lookup_organization_id: organizationId, set_id: String(set.id) }
  const body = { feature_flag_keys: [...keys], from, to, parts: [...parts] }
  const plan = useQuery({
    queryKey: ['promotion-plan', set.id, body],
    queryFn: ({ signal }) => call(routes.environments.plan, { params, body, signal }),
    gcTime: 0,
    retry: false,
  })
  const cohorts = useCohortList(String(to))
  const target = set.environments.find(({ project }) => project === to)
  const promote = async (hash: string) => {
    setIsBusy(true)
    setError(null)
    setIsStale(false)
    try {
      await call(routes.environments.promote, { params, body: { ...body, hash } })
      setResult({ kind: 'promoted' })
    } catch (problem) {
      if (isProblem(problem) && problem.changeRequestIds.length > 0) {
        setResult({ kind: 'requested', requests: problem.changeRequestIds })
      } else if (isProblem(problem) && problem.code === 'plan_is_stale') {
        setIsStale(true)
        await plan.refetch()
      } else setError(problem)
    }
    setIsBusy(false)
    queries.invalidateQueries({ queryKey: ['environment-flags', set.id] })
    queries.invalidateQueries({ queryKey: ['flags', String(to)] })
    queries.invalidateQueries({ queryKey: ['change-requests', String(to)] })
  }
  const title = t.promotion.title(keys.join(', '))
  if (result) return <PromotionResult title={title} to={to} keys={keys} result={result} onClose={onClose} />
  return (
    <Dialog size="xl" title={title} onClose={onClose}>
      <Stack>
        <NativeSelect
          label={t.promotion.to}
          data-autofocus
          value={String(to)}
          onChange={event => setTo(Number(event.currentTarget.value))}
          data={set.environments
            .filter(({ project }) => project !== from)
            .map(({ project, name }) => ({ value: String(project), label: name }))}
        />
        <Checkbox.Group
          label={t.promotion.parts}
          value={[...parts]}
          onChange={value => setParts(promotionParts.filter(part => value.includes(part)))}
        >
          <Group mt="xs">
            {promotionParts.map(part => (
              <Checkbox key={part} value={part} label={t.promotion.partNames[part]} />
            ))}
          </Group>
        </Checkbox.Group>
        {isStale && <Alert color="yellow">{t.promotion.stale}</Alert>}
        <Loaded query={combineQueries({ planned: plan, cohorts })}>
          {({ planned }) => (
            <>
              {planned.items.map(item => (
                <PlannedFlag key={item.key} item={item} to={to} isProduction={target?.is_production ?? false} />
              ))}
              <ProblemAlert error={error} />
              <Group justify="flex-end">
                <Button variant="default" onClick={onClose}>
                  {t.common.cancel}
                </Button>
                <Button disabled={!hasChanges(planned)} loading={isBusy} onClick={() => promote(planned.hash)}>
                  {!hasChanges(planned)
                    ? t.promotion.nothing
                    : needsApproval(planned)
                      ? t.promotion.request
                      : t.promotion.apply}
                </Button>
              </Group>
            </>
          )}
        </Loaded>
      </Stack>
    </Dialog>
  )
}

interface PlannedProps {
  item: PromotionPlan['items'][number]
  to: number
  isProduction: boolean
}

function PlannedFlag({ item, to, isProduction }: PlannedProps) {
  const t = useMessages()
  const { count } = useFormats()
  const project = useProject(String(to))
  const wording = useWording({ project: project ?? noProject, flags: noFlags, cohorts: useCohorts(String(to)) })
  const { needs } = item
  return (
    <section aria-label={item.key}>
      <Group gap="xs">
        <Title order={3}>{item.key}</Title>
        <Text size="sm" c="dimmed">
          {t.promotion.actions[item.action] ?? item.action}
        </Text>
        {item.requires.length > 0 && (
          <Badge variant="light" color="yellow">
            {t.promotion.needsApproval}
          </Badge>
        )}
      </Group>
      {item.action === 'create' && isProduction && <Text size="sm">{t.promotion.createdOff}</Text>}
      {needs.cohorts.length > 0 && <Text size="sm">{t.promotion.cohorts(needs.cohorts.join(', '))}</Text>}
      {needs.flags.length > 0 && <Text size="sm">{t.promotion.flags(needs.flags.join(', '))}</Text>}
      {item.people_affected !== null && item.action !== 'none' && (
        <Text size="sm">{t.promotion.affected(count(item.people_affected))}</Text>
      )}
      <SideBySide
        changes={itemChanges(item)}
        before={t.bulk.before}
        after={t.bulk.after}
        wording={wording}
        isNew={item.action === 'create'}
      />
    </section>
  )
}

interface ResultProps {
  title: string
  to: number
  keys: readonly string[]
  result: Result
  onClose: () => void
}

function PromotionResult({ title, to, keys, result, onClose }: ResultProps) {
  const t = useMessages()
  const projectId = String(to)
  const name = useProject(projectId)?.name ?? ''
  return (
    <Dialog title={title} onClose={onClose}>
      <Stack>
        <Text role="status">
          {result.kind === 'promoted' ? t.promotion.promotedIn(name) : t.promotion.requestedIn(name)}
        </Text>
        {result.kind === 'promoted'
          ? keys.map(key => (
              <Link key={key} to="/project/$projectId/flags" params={{ projectId }} search={{ q: key }}>
                {t.promotion.open(key)}
              </Link>
            ))
          : result.requests.map(id => (
              <Link key={id} to="/project/$projectId/requests/$requestId" params={{ projectId, requestId: String(id) }}>
                {t.promotion.request1(id)}
              </Link>
            ))}
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            {t.common.close}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
