import { Divider } from '@mantine/core'
import { Loaded } from '../../ui/feedback/problems.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { RollbackConditions } from './rollback-conditions.tsx'
import { ScheduledChanges } from './scheduled-changes.tsx'
import { useScheduledChanges } from './use-schedule.ts'

/** Automatic changes: scheduled changes, rollout ramps and automatic rollback. */
export function ScheduleTab(props: TabProps) {
  return (
    <Loaded query={useScheduledChanges(String(props.project.id), props.flag.id)}>
      {changes => (
        <>
          <ScheduledChanges {...props} changes={changes} />
          <Divider my="xl" />
          <RollbackConditions {...props} />
        </>
      )}
    </Loaded>
  )
}
