import { Checkbox, Stack, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

interface Props {
  /** What plugin.json asks for. */
  wanted: readonly string[]
  granted: readonly string[]
  error: string | undefined
  onChange: (hosts: string[]) => void
}

/** A plugin reaches nobody by itself: an admin grants the hosts that it asks for, one by one. */
export function HostsField({ wanted, granted, error, onChange }: Props) {
  const t = useMessages()
  if (wanted.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.plugins.noHosts}
      </Text>
    )
  }
  return (
    <Checkbox.Group
      label={t.plugins.hosts}
      labelElement="div"
      description={t.plugins.hostsHint}
      value={[...granted]}
      error={error}
      onChange={onChange}
    >
      <Stack gap="xs" mt="xs">
        {wanted.map(host => (
          <Checkbox key={host} value={host} label={host} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** The hosts that a plugin.json asks for, written as the server compares them. */
export function wantedHosts(manifest: string | undefined): string[] {
  try {
    const { allowedHosts } = JSON.parse(manifest ?? '{}') as { allowedHosts?: unknown }
    if (!Array.isArray(allowedHosts)) return []
    return allowedHosts.filter(host => typeof host === 'string').map(host => host.toLowerCase())
  } catch {
    return []
  }
}
