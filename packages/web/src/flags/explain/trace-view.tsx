import { Badge, Group, List, Stack, Text } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { CheckIcon, CrossIcon } from '../../ui/icons.tsx'
import { filterSentence } from './filter-sentence.ts'
import type { WireCondition, WireTrace } from './trace.ts'

const colors = { matched: 'green', out_of_rollout: 'yellow', not_matched: 'gray', no_group: 'gray', failed: 'red' }

/** The trace condition by condition: expected and actual values. */
export function TraceView({ trace }: { trace: WireTrace }) {
  const t = useMessages()
  return (
    <Stack gap="sm">
      {trace.holdout?.held_out && <Text size="sm">{t.explain.heldOut}</Text>}
      {trace.conditions.map(condition => (
        <ConditionView key={condition.index} condition={condition} />
      ))}
      {trace.variant?.key && (
        <Text size="sm">
          {trace.variant.forced
            ? t.explain.variantForced(trace.variant.key)
            : t.explain.variantByWeight(trace.variant.key)}
        </Text>
      )}
    </Stack>
  )
}

function ConditionView({ condition }: { condition: WireCondition }) {
  const t = useMessages()
  const { percent } = useFormats()
  const { rollout } = condition
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Text size="sm" fw={600}>
          {t.editor.condition(condition.index + 1)}
        </Text>
        <Badge size="sm" variant="light" color={colors[condition.result]}>
          {t.explain.results[condition.result]}
        </Badge>
        {!condition.reached && (
          <Text size="xs" c="dimmed">
            {t.explain.notReached}
          </Text>
        )}
      </Group>
      <List listStyleType="none" spacing={4} size="sm">
        {condition.filters.map((filter, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
          <List.Item key={index} icon={<Mark isGood={filter.matched} />}>
            {filterSentence(t, filter)}
          </List.Item>
        ))}
        {rollout && (
          <List.Item icon={<Mark isGood={rollout.inside} />}>
            {t.explain.rollout(
              percent(Math.round(rollout.bucket * 10_000) / 100),
              percent(Math.round(rollout.threshold * 10_000) / 100),
            )}
          </List.Item>
        )}
      </List>
    </div>
  )
}

function Mark({ isGood }: { isGood: boolean }) {
  const t = useMessages()
  return (
    <Text
      span
      c={isGood ? 'var(--mantine-color-green-light-color)' : 'var(--mantine-color-error)'}
      role="img"
      aria-label={isGood ? t.words.yes : t.words.no}
    >
      {isGood ? <CheckIcon size={16} /> : <CrossIcon size={16} />}
    </Text>
  )
}
