import { type BlastRadius, routes } from '@halyard/contract'
import { Anchor, Box, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { PersonIcon } from '../../ui/icons.tsx'
import { own } from '../filters.ts'
import { type Draft, draftToWire } from './draft.ts'
import { ValueDistribution } from './value-distribution.tsx'
import { offColor, onColor, variantColor } from './variants/variant-colors.ts'

interface Props {
  projectId: string
  /** Undefined for a new flag, which has nothing to compare with. */
  flagId: number | undefined
  draft: Draft
  isSound: boolean
  /** The flag is off; the impact is the one it will have. */
  isOnceOn?: boolean
  /** Beside the form, where nothing below is about to be pressed: the card is as high as its content. */
  mayShrink?: boolean
}

const waitMilliseconds = 300
/**
 * The height of the result, reserved so that a button below does not move away from the pointer when it arrives: of the
 * bar, of each value, and of those who gain, those who lose and those who get another value.
 */
const barRem = 2.9
const valueRem = 1.06
const comparedRem = 1.6
/** On a phone, examples have a line of their own. */
const examplesRem = 1.1

/** How many people or groups the draft would match, and who would gain or lose the flag on save. */
export function Impact({ projectId, flagId, draft, isSound, isOnceOn = false, mayShrink = false }: Props) {
  const t = useMessages()
  const call = useCall()
  const [debounced] = useDebouncedValue(draft, waitMilliseconds)
  const body = { ...draftToWire(debounced), key: debounced.key === '' ? 'new' : debounced.key }
  const impact = useQuery({
    queryKey: ['blast-radius', projectId, flagId, JSON.stringify(body)],
    queryFn: ({ signal }) =>
      call(routes.flagReach.userBlastRadius, {
        params: { project_id: projectId },
        ...(flagId !== undefined && { query: { compare_to: String(flagId) } }),
        body,
        signal,
      }),
    // The debounced draft may already be invalid.
    enabled: isSound && debounced === draft,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 10_000,
  })
  const variantCount = debounced.filters.variants.length
  const isCompared = flagId !== undefined && !mayShrink
  const reserved =
    barRem +
    valueRem * (variantCount === 0 ? 2 : variantCount + 1) +
    (isCompared ? comparedRem * (variantCount === 0 ? 2 : 3) : 0)
  const onPhone = isCompared ? reserved + examplesRem : reserved
  return (
    <Paper withBorder p="md" radius="lg" component="section">
      <Title order={2} mb={4}>
        {t.impact.title}
      </Title>
      {isOnceOn && (
        <Text size="xs" c="dimmed" mb={4}>
          {t.impact.onceOn}
        </Text>
      )}
      <Box role="status" {...(!(mayShrink && impact.data) && { mih: { base: `${onPhone}rem`, sm: `${reserved}rem` } })}>
        {impact.data?.total_users === 0 ? (
          <NoPeople projectId={projectId} height={`${reserved}rem`} />
        ) : impact.data ? (
          <Counted
            impact={impact.data}
            audience={debounced.filters.groupTypeIndex === null ? 'people' : 'groups'}
            variantKeys={debounced.filters.variants.map(({ key }) => key)}
          />
        ) : impact.error ? (
          <Text size="sm" c="dimmed">
            {t.impact.unknown}
          </Text>
        ) : (
          <Skeleton height={44} aria-hidden="true" />
        )}
      </Box>
    </Paper>
  )
}

/** Fills the reserved height: a smaller card would move what is below it. */
function NoPeople({ projectId, height }: { projectId: string; height: string }) {
  const t = useMessages()
  return (
    <Stack align="center" justify="center" gap="xs" mih={height} c="dimmed">
      <PersonIcon size={28} />
      <Text size="sm" ta="center" maw="16rem">
        {t.impact.noPeople}
      </Text>
      <Anchor component={Link} to={`/project/${projectId}/setup`} size="sm" underline="always">
        {t.setup.title}
      </Anchor>
    </Stack>
  )
}

interface CountedProps {
  impact: BlastRadius
  audience: 'people' | 'groups'
  variantKeys: readonly string[]
}

function Counted({ impact, audience, variantKeys }: CountedProps) {
  const t = useMessages()
  const { count, percent } = useFormats()
  const { would_be_on, total_users, users_affected, comparison, variants } = impact
  const on = would_be_on ?? users_affected
  const total = `${count(total_users)} ${t.impact.counted[audience]}`
  const values =
    variantKeys.length > 0
      ? variantKeys.map((key, index) => ({ label: key, color: variantColor(index), count: own(variants, key) ?? 0 }))
      : [{ label: t.preview.on, color: onColor, count: on }]
  return (
    <>
      <Text size="sm" mb={6}>
        {t.impact.on(count(on), total, percent((100 * on) / total_users))}
      </Text>
      <ValueDistribution
        values={[...values, { label: t.preview.off, color: offColor, count: total_users - on }]}
        total={total_users}
      />
      {comparison && <Comparison comparison={comparison} hasVariants={variantKeys.length > 0} />}
    </>
  )
}

interface ComparisonProps {
  comparison: NonNullable<BlastRadius['comparison']>
  hasVariants: boolean
}

/** Counts of zero too: their lines fill the reserved height. */
function Comparison({ comparison, hasVariants }: ComparisonProps) {
  const t = useMessages()
  const { count } = useFormats()
  const { gains, losses, changes, sample_gains, sample_losses } = comparison
  return (
    <>
      <Change text={t.impact.gain(count(gains))} color="green" people={sample_gains} />
      <Change text={t.impact.lose(count(losses))} color="red" people={sample_losses} />
      {(hasVariants || changes > 0) && (
        <Text size="sm" mt={4} {...(changes === 0 && { c: 'dimmed', fw: 500 })}>
          {t.impact.change(count(changes))}
        </Text>
      )}
    </>
  )
}

const namesMax = 3

interface ChangeProps {
  text: string
  color: 'green' | 'red'
  people: readonly { readonly name: string }[]
}

function Change({ text, color, people }: ChangeProps) {
  const t = useMessages()
  return (
    <Group gap="0 0.5rem" mt={4} align="baseline">
      <Text size="sm" c={people.length > 0 ? `var(--mantine-color-${color}-light-color)` : 'dimmed'} fw={500}>
        {text}
      </Text>
      {people.length > 0 && (
        <Text size="xs" c="dimmed" flex="1 1 16rem" miw={0} style={{ overflowWrap: 'anywhere' }}>
          {t.impact.forExample}:{' '}
          {people
            .slice(0, namesMax)
            .map(({ name }) => name)
            .join(', ')}
        </Text>
      )}
    </Group>
  )
}
