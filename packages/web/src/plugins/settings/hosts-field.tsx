import { Checkbox, Stack, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

interface Props {
  /** The hosts that plugin.json requests. */
  wanted: readonly string[]
  granted: readonly string[]
  error: string | undefined
  onChange: (hosts: string[]) => void
}

/** Network access is denied by default: an admin grants the requested hosts one by one. */
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

/** The hosts that plugin.json requests, normalized like on the server. */
export function wantedHosts(manifest: string | undefined): string[] {
  try {
    const { allowedHosts } = JSON.parse(manifest ?? '{}') as { allowedHosts?: unknown }
    if (!Array.isArray(allowedHosts)) return []
    return allowedHosts.filter(host => typeof host === 'string').map(host => host.toLowerCase())
  } catch {
    return []
  }
}
