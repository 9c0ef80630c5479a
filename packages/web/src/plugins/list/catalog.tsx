import { type CatalogEntry, type Plugin, routes } from '@halyard/contract'
import { Anchor, Badge, Button, Group, Paper, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Messages } from '../../i18n/en.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { InstallSteps } from '../install/install-steps.tsx'
import { useProgress } from '../install/use-install-progress.ts'
import { scope, usePlugins } from '../plugin-queries.ts'

interface Props {
  organizationId: string
  isAdmin: boolean
}

/** Plugins that are known to work with Halyard. */
export function Catalog(props: Props) {
  const t = useMessages()
  const call = useCall()
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const catalog = useQuery({
    queryKey: ['plugin-catalog', props.organizationId],
    queryFn: async ({ signal }) =>
      (await call(routes.plugins.repository, { params: scope(props.organizationId), signal })).results,
  })
  const queries = combineQueries({ entries: catalog, plugins: usePlugins(props.organizationId) })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.plugins.catalogIntro}
      </Text>
      <TextInput
        aria-label={t.plugins.search}
        placeholder={t.plugins.search}
        leftSection={<SearchIcon size={16} />}
        maw={360}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
      />
      <Loaded query={queries}>
        {({ entries, plugins }) => {
          const shown = entries
            .map(entry => translateEntry(entry, t.plugins))
            .filter(entry => searchTextOf(entry, t.plugins.kinds).includes(wanted))
          return (
            <>
              <Text size="sm" c="dimmed" role="status">
                {t.plugins.pluginCount(shown.length)}
              </Text>
              <SimpleGrid cols={{ base: 1, sm: 2 }}>
                {shown.map(entry => (
                  <Entry
                    key={entry.url}
                    {...props}
                    entry={entry}
                    installed={plugins.find(({ url }) => url === entry.url)}
                  />
                ))}
              </SimpleGrid>
            </>
          )
        }}
      </Loaded>
    </Stack>
  )
}

const searchTextOf = (
  { name, description, type, url }: CatalogEntry,
  kinds: Readonly<Record<string, string>>,
): string => `${name} ${description} ${kinds[type] ?? type} ${url}`.toLowerCase()

/** The server describes the catalog in English. */
const translateEntry = (entry: CatalogEntry, { catalogTexts }: Messages['plugins']): CatalogEntry => ({
  ...entry,
  ...catalogTexts[entry.url],
})

interface EntryProps extends Props {
  entry: CatalogEntry
  installed: Plugin | undefined
}

function Entry({ entry, installed, organizationId, isAdmin }: EntryProps) {
  const t = useMessages()
  const queries = useQueryClient()
  const notify = useNotify()
  const install = useProgress(routes.plugins.install, async plugin => {
    notify.success({ message: t.plugins.installSucceeded(plugin.name) })
    await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  })
  const begin = () =>
    install.start({ params: scope(organizationId), body: { url: entry.url, plugin_type: 'repository' } })
  const kinds: Record<string, string> = t.plugins.kinds
  return (
    <Paper withBorder p="md" radius="lg" component="article">
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={2} size="h3">
            {entry.name}
          </Title>
          {installed && (
            <Badge variant="light" color="green" style={{ flex: 'none' }}>
              {t.plugins.installed}
            </Badge>
          )}
        </Group>
        <Text size="sm">{entry.description}</Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {kinds[entry.type] ?? entry.type}
          {' · '}
          {entry.url.startsWith('file:') ? t.plugins.builtIn : t.plugins.shortUrl(entry.url)}
        </Text>
        {entry.needs !== '' && (
          <Text size="xs">
            <b>{t.plugins.needs}</b> {entry.needs}
          </Text>
        )}
        <ProblemAlert error={install.error} />
        <InstallSteps progress={install} what={entry.name} />
        <Group mt="auto">
          {installed ? (
            <Anchor
              component={Link}
              to="/organization/$organizationId/plugins/$pluginId"
              params={{ organizationId, pluginId: String(installed.id) } as never}
              size="sm"
              underline="always"
            >
              {t.plugins.openNamed(installed.name)}
            </Anchor>
          ) : (
            isAdmin && (
              <Button
                size="xs"
                variant="default"
                loading={install.isRunning}
                aria-label={t.plugins.installNamed(entry.name)}
                onClick={begin}
              >
                {t.plugins.install}
              </Button>
            )
          )}
        </Group>
      </Stack>
    </Paper>
  )
}
