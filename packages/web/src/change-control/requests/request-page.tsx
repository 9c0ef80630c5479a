import type { ChangeRequestDetail, Flag, Project } from '@halyard/contract'
import { Anchor, Badge, Group, List, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { ChangeList } from '../../flags/history/change-list.tsx'
import { recurrenceSentence } from '../../flags/schedule/recurrence.ts'
import { usePendingRamp } from '../../flags/schedule/use-pending-ramp.tsx'
import { useRelatedFlags } from '../../flags/use-related-flags.ts'
import { useWording } from '../../flags/use-wording.ts'
import type { Messages } from '../../i18n/en.ts'
import type { Formats } from '../../i18n/formats.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useProject } from '../../services/session-queries.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Loaded, Loading } from '../../ui/feedback/problems.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { ChangedSince } from './changed-since.tsx'
import { DecisionBar, DecisionHints, useRequestActions } from './request-actions.tsx'
import { requestChanges } from './request-changes.ts'
import { RequestImpact } from './request-impact.tsx'
import { RequestNotices } from './request-notices.tsx'
import classes from './request-page.module.css'
import { useChangeRequest, useRequestFlag } from './request-queries.ts'
import { RequestState } from './request-state.tsx'
import { RequestTimeline } from './request-timeline.tsx'

const RecentUsage = lazyComponent(async () => (await import('../../flags/charts/recent-usage.tsx')).RecentUsage)

/** A change request as its approver sees it: what the editor's review shows, who has decided, and what to do about it. */
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
  const cohorts = useCohorts(projectId)
  const wording = useWording({ project, flags, cohorts })
  const { data: flag, isLoading } = useRequestFlag(projectId, request)
  const ramp = usePendingRamp(projectId, flag?.id)
  const changes = requestChanges(request)
  const isOpen = ['pending', 'approved', 'conflicted'].includes(request.state)
  const actions = useRequestActions(projectId, request)
  // Its impact stands above the rest.
  if (isLoading) return <Loading />
  return (
    <Page
      title={request.title}
      parents={[{ label: t.requests.title, to: `/project/${projectId}/requests` }]}
      intro={<Intro projectId={projectId} request={request} flag={flag} />}
      actions={
        <>
          <RequestState state={request.state} isEmergency={request.emergency_reason !== null} />
          <DecisionBar request={request} wording={wording} actions={actions} />
        </>
      }
    >
      <div className={classes.columns}>
        <Stack gap="lg" className={classes.content as string}>
          <DecisionHints request={request} actions={actions} />
          <RequestNotices request={request} />
          <Section title={isOpen ? t.requests.changes : t.requests.requestedChanges}>
            {changes.length === 0 ? (
              <Text size="sm">{t.requests.noChanges}</Text>
            ) : (
              <ChangeList changes={changes} wording={wording} />
            )}
          </Section>
          {isOpen && ramp.notice}
          {isOpen && flag && <ChangedSince projectId={projectId} request={request} flag={flag} wording={wording} />}
        </Stack>
        <Stack gap="lg" className={classes.aside as string}>
          {isOpen && <RequestImpact request={request} project={project} flag={flag} flags={flags} cohorts={cohorts} />}
          <Policies request={request} />
          {isOpen && <Affected request={request} projectId={projectId} />}
        </Stack>
        {isOpen && flag && (
          <Stack gap="lg" className={classes.usage as string}>
            <Suspense fallback={<Loading />}>
              <RecentUsage projectId={projectId} flag={flag} wording={wording} />
            </Suspense>
          </Stack>
        )}
        <div className={classes.timeline}>
          <Section title={t.requests.timeline}>
            <RequestTimeline projectId={projectId} request={request} actions={actions} />
          </Section>
        </div>
      </div>
    </Page>
  )
}

function Intro(props: TargetProps) {
  const t = useMessages()
  const { request } = props
  return (
    <>
      <Target {...props} />
      {' · '}
      {t.requests.by(request.created_by.first_name || request.created_by.email)}
      {' · '}
      <RelativeTime instant={request.created_at} />
    </>
  )
}

interface Props {
  request: ChangeRequestDetail
}

interface TargetProps extends Props {
  projectId: string
  flag: Flag | undefined
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

/** What the request changes. */
function Target({ projectId, request, flag }: TargetProps) {
  const t = useMessages()
  const formats = useFormats()
  const { resource_type, resource_id } = request
  const isCohort = resource_type === 'cohort'
  const key = String(request.intent.key ?? '')
  if (resource_id === null) {
    return (
      <>
        {t.requests.newFlag}: {key}
      </>
    )
  }
  return (
    <>
      {resource_type === 'scheduled_change' &&
        [t.requests.scheduled, ...scheduledTexts(request, t, formats), ''].join(' · ')}
      <Anchor
        component={Link}
        to={`/project/${projectId}/${isCohort ? 'cohorts' : 'flags'}/${resource_id}`}
        underline="always"
        size="sm"
      >
        {flag?.key ?? `${isCohort ? t.requests.cohort : t.flags.columnFlag} #${resource_id}`}
      </Anchor>
    </>
  )
}

/** What else the change touches, and how many people it concerned when it was requested. */
function Affected({ request, projectId }: Props & { projectId: string }) {
  const t = useMessages()
  const { count } = useFormats()
  const { impact_now: now, impact: then, dependents, scheduled_changes: schedules } = request
  const hasGrown = then !== null && now !== null && then.affected !== now.affected
  if (!hasGrown && dependents.length === 0 && schedules.length === 0) return null
  return (
    <Section title={t.requests.alsoAffected}>
      <Stack gap={4}>
        {hasGrown && <Text size="sm">{t.requests.impactThen(count(then.affected), count(now.affected))}</Text>}
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

function Policies({ request: { policies, uncounted_approvers: uncounted } }: Props) {
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
          {uncounted.length > 0 && (
            <Text component="div" size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {t.requests.uncounted}
              <List size="sm">
                {uncounted.map(({ uuid, first_name, email, reason, is_indirect }) => (
                  <List.Item key={uuid}>
                    {first_name || email}: {t.requests.uncountedReasons[reason]}
                    {is_indirect && `, ${t.requests.uncountedIndirectly}`}
                  </List.Item>
                ))}
              </List>
            </Text>
          )}
        </Stack>
      )}
    </Section>
  )
}
