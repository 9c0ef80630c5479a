import { type ChangeRequestDetail, type Project, routes } from '@halyard/contract'
import { Anchor, Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { flagKey } from '../../flags/flag-cache.ts'
import { ChangeList } from '../../flags/history/change-list.tsx'
import { recurrenceSentence } from '../../flags/schedule/recurrence.ts'
import { useRelatedFlags } from '../../flags/use-related-flags.ts'
import { useWording } from '../../flags/use-wording.ts'
import type { Messages } from '../../i18n/en.ts'
import type { Formats } from '../../i18n/formats.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { RequestActions } from './request-actions.tsx'
import { requestChanges } from './request-changes.ts'
import { RequestNotices } from './request-notices.tsx'
import { useChangeRequest } from './request-queries.ts'
import { RequestState } from './request-state.tsx'

/** A change request: what it changes, its impact now, who has decided, and what to do about it. */
export function RequestPage() {
  const { projectId, requestId } = useParams({ from: '/shell/project/$projectId/requests/$requestId' })
  const project = useProject(projectId)
  const request = useChangeRequest(projectId, requestId)
  const data = project && request.data ? { project, request: request.data } : undefined
  return <Loaded query={{ ...request, data, refetch: request.refetch }}>{loaded => <Request {...loaded} />}</Loaded>
}

const noFilters = {}

function Request({ project, request }: { project: Project; request: ChangeRequestDetail }) {
  const t = useMessages()
  const projectId = String(project.id)
  const { filters } = request.intent as { filters?: Record<string, unknown> }
  const flags = useRelatedFlags(projectId, filters ?? noFilters)
  const wording = useWording({ project, flags, cohorts: useCohorts(projectId) })
  const changes = requestChanges(request)
  const isOpen = ['pending', 'approved', 'conflicted'].includes(request.state)
  return (
    <Page
      title={request.title}
      intro={
        <>
          <Anchor component={Link} to={`/project/${projectId}/requests`} size="sm" underline="always">
            {t.requests.back}
          </Anchor>
          {' · '}
          {t.requests.by(request.created_by.first_name || request.created_by.email)}
          {' · '}
          <RelativeTime instant={request.created_at} />
        </>
      }
      actions={<RequestState state={request.state} isEmergency={request.emergency_reason !== null} />}
    >
      <Stack gap="lg">
        <RequestNotices request={request} />
        {request.reason !== '' && <Text style={{ overflowWrap: 'anywhere' }}>{request.reason}</Text>}
        <Target projectId={projectId} request={request} />
        <Section title={isOpen ? t.requests.changes : t.requests.requestedChanges}>
          {changes.length === 0 ? (
            <Text size="sm">{t.requests.noChanges}</Text>
          ) : (
            <ChangeList changes={changes} wording={wording} />
          )}
        </Section>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {isOpen && <ImpactNow request={request} projectId={projectId} />}
          <Policies request={request} />
          <Decisions request={request} />
          <Timeline request={request} />
        </SimpleGrid>
        <RequestActions projectId={projectId} request={request} wording={wording} />
      </Stack>
    </Page>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" radius="lg" component="section">
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  )
}

interface Props {
  request: ChangeRequestDetail
}

/** When a requested schedule runs. */
function scheduledTexts({ intent }: ChangeRequestDetail, t: Messages, { moment, day }: Formats): readonly string[] {
  const repeated = recurrenceSentence(intent, t, day)
  const { scheduled_at } = intent
  const start = typeof scheduled_at === 'string' ? [moment(scheduled_at)] : []
  const { pair, timezone } = intent as {
    pair?: { scheduledAt?: string; cronExpression?: string } | null
    timezone?: unknown
  }
  const reverted = pair?.cronExpression
    ? recurrenceSentence({ cron_expression: pair.cronExpression, timezone }, t, day)
    : pair?.scheduledAt && moment(pair.scheduledAt)
  return [...start, ...(repeated ? [repeated] : []), ...(reverted ? [t.requests.reverted(reverted)] : [])]
}

function Target({ projectId, request }: Props & { projectId: string }) {
  const t = useMessages()
  const formats = useFormats()
  const { resource_type, resource_id } = request
  const isCohort = resource_type === 'cohort'
  const call = useCall()
  const flag = useQuery({
    queryKey: flagKey(projectId, resource_id ?? ''),
    queryFn: ({ signal }) =>
      call(routes.flags.get, { params: { project_id: projectId, id: resource_id ?? '' }, signal }),
    enabled: resource_id !== null && !isCohort,
  })
  const key = String(request.intent.key ?? '')
  if (resource_id === null) {
    return (
      <Text size="sm">
        {t.requests.newFlag}: {key}
      </Text>
    )
  }
  return (
    <Text size="sm">
      {resource_type === 'scheduled_change' &&
        [t.requests.scheduled, ...scheduledTexts(request, t, formats), ''].join(' · ')}
      <Anchor
        component={Link}
        to={`/project/${projectId}/${isCohort ? 'cohorts' : 'flags'}/${resource_id}`}
        underline="always"
        size="sm"
      >
        {flag.data?.key ?? `${isCohort ? t.requests.cohort : t.flags.columnFlag} #${resource_id}`}
      </Anchor>
    </Text>
  )
}

function ImpactNow({ request, projectId }: Props & { projectId: string }) {
  const t = useMessages()
  const { count } = useFormats()
  const { impact_now: now, impact: then, dependents, scheduled_changes: schedules } = request
  return (
    <Section title={t.requests.impactNow}>
      <Stack gap={4}>
        <Text size="sm">
          {now ? t.requests.impact(count(now.affected), count(now.gains), count(now.losses)) : t.requests.impactUnknown}
        </Text>
        {then && then.affected !== now?.affected && (
          <Text size="sm" c="dimmed">
            {t.requests.impactThen(count(then.affected))}
          </Text>
        )}
        {dependents.length > 0 && (
          <Text size="sm">
            {t.requests.dependents}:{' '}
            {dependents.map(({ id, key }, index) => (
              <span key={id}>
                {index > 0 && ', '}
                <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: String(id) }}>
                  {key}
                </Link>
              </span>
            ))}
          </Text>
        )}
        {schedules.length > 0 && <Text size="sm">{t.requests.schedules(schedules.length)}</Text>}
      </Stack>
    </Section>
  )
}

function Policies({ request: { policies } }: Props) {
  const t = useMessages()
  return (
    <Section title={t.requests.policies}>
      {policies.length === 0 ? (
        <Text size="sm">{t.requests.noPolicies}</Text>
      ) : (
        <Stack gap={4}>
          {policies.map(({ id, action_key, approved, quorum, is_satisfied }) => (
            <Group key={id} gap="xs">
              <Text size="sm">{t.requests.policy(t.policies.actions[action_key] ?? action_key, approved, quorum)}</Text>
              {is_satisfied && (
                <Badge variant="light" color="green">
                  {t.requests.satisfied}
                </Badge>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  )
}

function Decisions({ request: { approvals, review } }: Props) {
  const t = useMessages()
  return (
    <Section title={t.requests.decisions}>
      <Stack gap="xs">
        {approvals.length === 0 && review === null && <Text size="sm">{t.requests.noDecisions}</Text>}
        {approvals.map(({ created_by, decision, reason, created_at, is_current }) => (
          <div key={`${created_by.id} ${created_at}`}>
            <Text size="sm">
              <b>{created_by.first_name || created_by.email}</b> {t.requests.decided[decision] ?? decision}{' '}
              <RelativeTime instant={created_at} />
              {!is_current && ` · ${t.requests.outdated}`}
            </Text>
            {reason !== '' && (
              <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {reason}
              </Text>
            )}
          </div>
        ))}
        {review && (
          <Text size="sm">
            {t.requests.reviewed(review.reviewed_by.first_name || review.reviewed_by.email)}: {review.note}
          </Text>
        )}
      </Stack>
    </Section>
  )
}

function Timeline({ request }: Props) {
  const t = useMessages()
  const { moment } = useFormats()
  const { state, created_at, expires_at, apply_at, applied_at, applied_version, through, next_attempt_at } = request
  const isWaiting = state === 'approved' && next_attempt_at !== null
  const applied =
    applied_at && `${moment(applied_at)}${applied_version ? ` ${t.requests.appliedVersion(applied_version)}` : ''}`
  const lines = [
    [t.requests.opened, moment(created_at)],
    ...(apply_at ? [[t.requests.applyAt, moment(apply_at)]] : []),
    ...(state === 'pending' ? [[t.requests.expires, moment(expires_at)]] : []),
    ...(isWaiting ? [[t.requests.nextAttempt, moment(next_attempt_at)]] : []),
    ...(applied ? [[t.requests.appliedAt, applied]] : []),
  ]
  return (
    <Section title={t.requests.timeline}>
      <Stack gap={4}>
        {lines.map(([name, value]) => (
          <Text key={name} size="sm">
            {name}: {value}
          </Text>
        ))}
        {through && through !== 'Sign-in' && <Text size="sm">{t.requests.through(through)}</Text>}
        {request.emergency_reason !== null && <Text size="sm">{request.emergency_reason}</Text>}
      </Stack>
    </Section>
  )
}
