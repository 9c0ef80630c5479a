import type { ActivityEntry, EventCounts } from '@halyard/contract'
import { Group, Stack, Text } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import classes from './event-lanes.module.css'
import { positionIn, type TimeWindow } from './time-window.ts'

const width = 1000
const laneHeight = 48
const evaluation = '$feature_flag_called'

interface Props {
  counts: EventCounts
  window: TimeWindow
  middle: string
  changes: readonly ActivityEntry[]
}

/** One lane of bars per event over the same time; each change is a line through all of them. */
export function EventLanes({ counts, window, middle, changes }: Props) {
  const t = useMessages()
  const { day, time, moment } = useFormats()
  return (
    <Stack gap={4} className={classes.lanes}>
      {counts.events.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.timeline.noEvents}
        </Text>
      )}
      {counts.events.map(({ event, counts: numbers }) => (
        <Lane key={event} event={event} numbers={numbers} window={window} changes={changes} />
      ))}
      <Marks changes={changes} window={window} />
      <Group justify="space-between">
        {[window.from, middle, window.to].map(instant => (
          <Text key={instant} size="xs" c="dimmed">
            {instant !== window.from && day(instant) === day(window.from) ? time(instant) : moment(instant)}
          </Text>
        ))}
      </Group>
    </Stack>
  )
}

type LaneProps = Pick<Props, 'window' | 'changes'> & { event: string; numbers: readonly number[] }

function Lane({ event, numbers, window, changes }: LaneProps) {
  const t = useMessages()
  const { count } = useFormats()
  const name = event === evaluation ? t.timeline.evaluations : event
  const total = numbers.reduce((sum, each) => sum + each, 0)
  const highest = Math.max(...numbers, 1)
  const step = width / numbers.length
  const summary = t.timeline.lane(name, count(total), count(highest))
  return (
    <div>
      <Text size="xs">{summary}</Text>
      <svg
        className={classes.lane}
        viewBox={`0 0 ${width} ${laneHeight}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {numbers.map((number, index) => {
          const height = (number / highest) * laneHeight
          return (
            number > 0 && (
              <rect
                // biome-ignore lint/suspicious/noArrayIndexKey: intervals never move.
                key={index}
                x={index * step}
                y={laneHeight - height}
                width={step * 0.8}
                height={height}
              />
            )
          )
        })}
        {changes.map(({ id, created_at }) => {
          const x = positionIn(window, created_at) * width
          return <line key={id} x1={x} x2={x} y1={0} y2={laneHeight} vectorEffect="non-scaling-stroke" />
        })}
      </svg>
    </div>
  )
}

/** The numbers of the changes below the lanes; those too close to the one before are left out. */
function Marks({ changes, window }: Pick<Props, 'changes' | 'window'>) {
  const marks: { id: ActivityEntry['id']; at: number; number: number }[] = []
  for (const [index, { id, created_at }] of changes.entries()) {
    const at = positionIn(window, created_at)
    if (at - (marks.at(-1)?.at ?? -1) > 0.025) marks.push({ id, at, number: index + 1 })
  }
  return (
    <div className={classes.marks} aria-hidden="true">
      {marks.map(({ id, at, number }) => (
        <span key={id} style={{ insetInlineStart: `${at * 100}%` }}>
          {number}
        </span>
      ))}
    </div>
  )
}
