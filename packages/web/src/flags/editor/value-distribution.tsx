import { Group, Text } from '@mantine/core'
import { useFormats } from '../../i18n/language.tsx'
import classes from './editor.module.css'

export interface ValueCount {
  readonly label: string
  readonly color: string
  readonly count: number
}

/** How many get each value, as a bar and in numbers. */
export function ValueDistribution({ values, total }: { values: readonly ValueCount[]; total: number }) {
  const { count, percent } = useFormats()
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {values.map(
          ({ label, color, count: of }) =>
            // Nothing but its gap would be visible of an empty part.
            of > 0 && <span key={label} style={{ width: `${(100 * of) / total}%`, background: color }} />,
        )}
      </div>
      <ul className={classes.values}>
        {values.map(({ label, color, count: of }) => (
          <li key={label}>
            <Group gap={6} wrap="nowrap" align="baseline">
              <span className={classes.dot} style={{ background: color }} aria-hidden="true" />
              <Text size="xs" flex={1} style={{ overflowWrap: 'anywhere' }}>
                {label}
              </Text>
              <Text size="xs" c="dimmed">
                {count(of)} · {percent((100 * of) / total)}
              </Text>
            </Group>
          </li>
        ))}
      </ul>
    </>
  )
}
