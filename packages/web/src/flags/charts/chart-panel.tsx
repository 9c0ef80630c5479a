import { Collapse, List, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useMemo } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { DisclosureButton } from '../../ui/layout/disclosure-button.tsx'
import { ValueDistribution } from '../editor/value-distribution.tsx'
import { offColor, onColor, variantColor } from '../editor/variants/variant-colors.ts'
import type { RolloutStep } from './rollout-steps.ts'
import { UsageChart } from './usage-chart.tsx'

interface Series {
  /** The value of the flag. */
  readonly label: string
  readonly data: readonly number[]
  readonly total: number
}

interface Props {
  title: string
  /** Days, or instants when `isHourly`. */
  stamps: readonly string[]
  series: readonly Series[]
  isHourly?: boolean
  /** What changed meanwhile, on the same axis; oldest first. */
  steps: readonly RolloutStep[]
  thresholds?: readonly number[]
  /** Replaces the chart without data. */
  empty: ReactNode
}

/** Counts by value of a flag over time, with the steps of its rollout: distribution, chart, and the same as a table. */
export function ChartPanel({ title, stamps, series, isHourly = false, steps, thresholds, empty }: Props) {
  const t = useMessages()
  const valueNames: Record<string, string> = t.usage.values
  const { count, day, moment } = useFormats()
  const [isTableOpen, { toggle: toggleTable }] = useDisclosure(false)
  const colored = useMemo(
    () => withColors(series).map(each => ({ ...each, label: valueNames[each.label] ?? each.label })),
    [series, valueNames],
  )
  const total = series.reduce((sum, each) => sum + each.total, 0)
  const nameOf = (stamp: string) => (isHourly ? moment(stamp) : isToday(stamp) ? t.usage.soFar(day(stamp)) : day(stamp))
  const isLastPartial = !isHourly && isToday(stamps.at(-1))
  const first = stamps[0] ?? ''
  const marks = useMemo(() => steps.filter(({ at }) => at.slice(0, first.length) >= first), [steps, first])
  if (total === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    )
  }
  return (
    <>
      <ValueDistribution
        values={colored.map(({ label, color, total: of }) => ({ label, color, count: of }))}
        total={total}
      />
      <Text size="sm" mb="xs">
        {t.usage.sum(count(total))}
      </Text>
      <UsageChart
        days={stamps}
        series={colored}
        label={(isHourly ? t.charts.hourly : t.usage.chart)(title)}
        isHourly={isHourly}
        isLastPartial={isLastPartial}
        marks={marks}
        {...(thresholds && { thresholds })}
      />
      {isLastPartial && (
        <Text size="xs" c="dimmed" mb="xs">
          {t.usage.partial}
        </Text>
      )}
      <Steps steps={marks} />
      <DisclosureButton label={t.usage.table} isOpen={isTableOpen} onToggle={toggleTable} />
      <Collapse expanded={isTableOpen}>
        <DataTable
          label={title}
          head={[isHourly ? t.plugins.hour : t.usage.day, ...colored.map(({ label }) => label)]}
          rows={[
            ...stamps
              .map((stamp, index) => ({ stamp, numbers: colored.map(({ data }) => data[index] ?? 0) }))
              // A week has many hours in which nothing happened.
              .filter(({ numbers }) => !isHourly || numbers.some(Boolean))
              .map(({ stamp, numbers }) => ({ key: stamp, cells: [nameOf(stamp), ...numbers.map(count)] }))
              .reverse(),
            { key: 'total', cells: [t.usage.total, ...colored.map(each => count(each.total))] },
          ]}
        />
      </Collapse>
    </>
  )
}

const isToday = (stamp: string | undefined) => stamp?.slice(0, 10) === new Date().toISOString().slice(0, 10)

/** The numbered lines of the chart in words. */
function Steps({ steps }: { steps: readonly RolloutStep[] }) {
  const t = useMessages()
  const { moment } = useFormats()
  if (steps.length === 0) return null
  return (
    <List type="ordered" size="xs" mb="xs" aria-label={t.charts.steps}>
      {steps.map(({ id, at, text }) => (
        <List.Item key={id}>
          {moment(at)} · {text}
        </List.Item>
      ))}
    </List>
  )
}

/** On and off have fixed colors, off a quiet one; variants get theirs in order. */
function withColors<S extends { readonly label: string }>(series: readonly S[]): (S & { color: string })[] {
  let variants = 0
  return series.map(each => ({
    ...each,
    color: each.label === 'true' ? onColor : each.label === 'false' ? offColor : variantColor(variants++),
  }))
}
