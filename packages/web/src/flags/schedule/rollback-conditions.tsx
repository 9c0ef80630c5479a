import { type Flag, type RollbackReport, routes } from '@halyard/contract'
import { ActionIcon, Badge, Group, List, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { pollMilliseconds } from '../../services/polling.ts'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loading } from '../../ui/feedback/problems.tsx'
import { TrashIcon } from '../../ui/icons.tsx'
import { useIsOpening } from '../../ui/layout/visibility-context.ts'
import { useEventNames } from '../editor/conditions/property-suggestions.ts'
import type { TabProps } from '../flag-tabs.ts'
import { plainSave } from '../gate/save-mode.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { usePatchFlag } from '../use-flags.ts'
import { useWording } from '../use-wording.ts'
import { AutomationSection } from './automation-section.tsx'
import { readRollbackCondition, rollbackSentence, writeRollbackCondition } from './rollback-condition.ts'
import { NewRollbackCondition } from './rollback-form.tsx'
import { UnknownEvent } from './unknown-event.tsx'

/** The automatic rollback conditions with their current measurements. */
export function RollbackConditions(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const notify = useNotify()
  const call = useCall()
  const wording = useWording(props)
  const patch = usePatchFlag(String(project.id))
  const announceRequest = useRequestedNotice(String(project.id))
  const { conditions } = flag.rollback_conditions as { conditions?: unknown }
  const storedConditions: readonly unknown[] = Array.isArray(conditions) ? conditions : []
  const params = { project_id: String(project.id), id: String(flag.id) }
  const report = useQuery({
    queryKey: ['rollback', params.project_id, params.id, flag.version],
    queryFn: ({ signal }) => call(routes.rollback.report, { params, signal }),
    enabled: storedConditions.length > 0,
    // The form below does not move when a new version is measured.
    placeholderData: keepPreviousData,
    refetchInterval: pollMilliseconds,
  })
  // Waits for the first report, so that it does not shift the list.
  const isOpening = useIsOpening(storedConditions.length > 0 && report.isPending)
  const save = async (next: readonly unknown[], done: string) => {
    const rollback_conditions = next.length === 0 ? {} : { ...flag.rollback_conditions, conditions: next }
    const outcome = await patch.mutateAsync({ flag, patch: { rollback_conditions }, mode: plainSave })
    if (outcome.kind === 'requested') announceRequest(outcome.request)
    else notify.success({ message: done })
  }
  const sentenceOf = (stored: unknown) => {
    const condition = readRollbackCondition(stored)
    return condition ? rollbackSentence(condition, wording) : JSON.stringify(stored)
  }
  const eventNames = useEventNames(params.project_id)
  const isUnknown = (stored: unknown) => {
    const condition = readRollbackCondition(stored)
    if (!eventNames || condition?.source !== 'events') return false
    const events = condition.eventMath === 'per' ? [condition.name, condition.per] : [condition.name]
    return events.some(name => !eventNames.includes(name))
  }
  if (isOpening) return <Loading />
  return (
    <AutomationSection
      title={t.rollback.title}
      intro={t.rollback.intro}
      error={patch.error}
      form={
        flag.can_edit && (
          <NewRollbackCondition
            projectId={params.project_id}
            isSaving={patch.isPending}
            onCreate={condition => save([...storedConditions, writeRollbackCondition(condition)], t.rollback.added)}
          />
        )
      }
    >
      {storedConditions.length === 0 ? (
        <Text size="sm">{t.rollback.none}</Text>
      ) : (
        <List listStyleType="none" spacing="xs" size="sm">
          {storedConditions.map((stored, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
            <List.Item key={index}>
              <Group gap="xs">
                <span>{sentenceOf(stored)}</span>
                <Standing flag={flag} report={report.data?.conditions[index]} />
                {isUnknown(stored) && <UnknownEvent />}
                {flag.can_edit && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`${t.common.remove}: ${sentenceOf(stored)}`}
                    onClick={() =>
                      save(
                        storedConditions.filter((_, at) => at !== index),
                        t.rollback.removed,
                      ).catch(() => {})
                    }
                  >
                    <TrashIcon size={16} />
                  </ActionIcon>
                )}
              </Group>
            </List.Item>
          ))}
        </List>
      )}
    </AutomationSection>
  )
}

const colors: Record<string, string> = { watching: 'green', holds: 'red', inactive: 'gray' }

interface StandingProps {
  flag: Flag
  report: RollbackReport['conditions'][number] | undefined
}

function Standing({ flag, report }: StandingProps) {
  const t = useMessages()
  const { count } = useFormats()
  const states: Record<string, string> = t.rollback.states
  // As high as its first measurement.
  if (!report) return <StandingText color="gray" state={t.rollback.measuring} detail={t.rollback.noData} />
  return (
    <StandingText
      color={colors[report.status] ?? 'gray'}
      state={states[report.status] ?? report.status}
      detail={[
        report.value === null ? t.rollback.noData : t.rollback.now(count(report.value)),
        ...(report.status === 'inactive' ? [inactiveReason(t, flag) ?? report.reason] : []),
      ].join(' · ')}
    />
  )
}

function StandingText({ color, state, detail }: { color: string; state: string; detail: string }) {
  return (
    <>
      <Badge variant="light" color={color}>
        {state}
      </Badge>
      <Text size="xs" c="dimmed" span>
        {detail}
      </Text>
    </>
  )
}

const inactiveReason = ({ rollback }: Messages, { deleted, performed_rollback, active }: Flag): string | undefined =>
  deleted ? rollback.deleted : performed_rollback ? rollback.rolledBack : active ? undefined : rollback.off
