import { type PluginLogEntry, routes } from '@halyard/contract'
import { Badge, Chip, Group, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { pollMilliseconds } from '../../services/polling.ts'
import { useCall } from '../../services/services.ts'
import { Pagination } from '../../ui/data/pagination.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import type { ConfiguredProps } from '../plugin-tabs.ts'
import classes from './log-tab.module.css'

const levels = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const
const pageSize = 100

const colors: Readonly<Record<PluginLogEntry['type'], string>> = {
  DEBUG: 'gray',
  LOG: 'gray',
  INFO: 'indigo',
  WARN: 'yellow',
  ERROR: 'red',
}

/** The plugin's console output and Halyard's own entries about it. */
export function LogTab({ config, projectId }: ConfiguredProps) {
  const t = useMessages()
  const call = useCall()
  const [wanted, setWanted] = useState<string[]>([])
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 250)
  const [isFollowing, setIsFollowing] = useState(true)
  const [offset, setOffset] = useState(0)
  const isLive = isFollowing && offset === 0
  const query = {
    limit: String(pageSize),
    offset: String(offset),
    ...(search !== '' && { search }),
    ...(wanted.length > 0 && { type_filter: wanted.join(',') }),
  }
  const logs = useQuery({
    // Only the followed page is refreshed when new entries are announced.
    queryKey: [isLive ? 'plugin-logs' : 'plugin-log-page', projectId, config.id, query],
    queryFn: ({ signal }) =>
      call(routes.pluginConfigs.logs, { params: { project_id: projectId, id: String(config.id) }, query, signal }),
    refetchInterval: isLive ? pollMilliseconds : false,
    placeholderData: keepPreviousData,
  })
  const isFiltered = search !== '' || wanted.length > 0
  return (
    <Stack>
      <Group justify="space-between">
        <TextInput
          aria-label={t.plugins.searchLog}
          placeholder={t.plugins.searchLog}
          w={{ base: '100%', xs: 'auto' }}
          leftSection={<SearchIcon size={16} />}
          value={text}
          onChange={event => {
            setText(event.currentTarget.value)
            setOffset(0)
          }}
        />
        <Switch
          label={t.plugins.follow}
          checked={isFollowing}
          onChange={event => setIsFollowing(event.currentTarget.checked)}
        />
      </Group>
      <Chip.Group
        multiple
        value={wanted}
        onChange={next => {
          setWanted(next)
          setOffset(0)
        }}
      >
        <Group gap="xs" role="group" aria-label={t.plugins.levels}>
          {levels.map(level => (
            <Chip key={level} value={level} size="xs" variant="outline">
              {t.plugins.levelNames[level]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Loaded query={logs}>
        {({ results, count }) => (
          <>
            {results.length === 0 ? (
              <Text size="sm">{isFiltered ? t.plugins.noLogsFound : t.plugins.noLogs}</Text>
            ) : (
              <Lines entries={results} isLive={isLive} />
            )}
            <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function Lines({ entries, isLive }: { entries: readonly PluginLogEntry[]; isLive: boolean }) {
  const t = useMessages()
  const { precise } = useFormats()
  return (
    <div role="log" aria-label={t.plugins.logs} aria-live={isLive ? 'polite' : 'off'}>
      <ul className={classes.lines}>
        {entries.map(entry => (
          <li key={entry.id} className={classes.line}>
            <time dateTime={entry.timestamp} className={classes.time}>
              {precise(entry.timestamp)}
            </time>
            <Badge variant="light" color={colors[entry.type]} size="sm" className={classes.level as string}>
              {t.plugins.levelNames[entry.type]}
            </Badge>
            <span className={classes.message}>
              {entry.source === 'SYSTEM' && <b>Halyard: </b>}
              {entry.message}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
