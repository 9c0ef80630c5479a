import { type CatalogueEntry, type Plugin, routes } from '@halyard/contract'
import { ActionIcon, Badge, Button, Card, Group, SimpleGrid, Stack, Tabs, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useOrganizations } from '../api/queries.ts'
import { PlusIcon } from '../app/icons.tsx'
import { useNotify } from '../app/notify.ts'
import { Page } from '../app/page.tsx'
import { fieldProblem, Loaded, ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'

const adminLevel = 8

export function PluginsPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/plugins' })
  const isAdmin =
    (useOrganizations().data?.find(({ id }) => id === organizationId)?.membership_level ?? 0) >= adminLevel
  return (
    <Page title={t.shell.plugins} intro={t.plugins.intro}>
      <Tabs defaultValue="installed" keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="installed">{t.plugins.installed}</Tabs.Tab>
          <Tabs.Tab value="catalogue">{t.plugins.catalogue}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="installed">
          <Stack>
            {isAdmin && <Install organizationId={organizationId} />}
            <Installed organizationId={organizationId} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <Catalogue organizationId={organizationId} isAdmin={isAdmin} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

const scope = (organizationId: string) => ({ parent_lookup_organization_id: organizationId })

function usePlugins(organizationId: string) {
  const call = useCall()
  return useQuery({
    queryKey: ['plugins', organizationId],
    queryFn: async ({ signal }) =>
      (await call(routes.plugins.list, { params: scope(organizationId), query: { limit: '1000' }, signal })).results,
  })
}

function Installed({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const plugins = usePlugins(organizationId)
  return (
    <Loaded query={plugins}>
      {all =>
        all.length === 0 ? (
          <Text>{t.plugins.none}</Text>
        ) : (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {all.map(plugin => (
              <PluginCard key={plugin.id} plugin={plugin} organizationId={organizationId} />
            ))}
          </SimpleGrid>
        )
      }
    </Loaded>
  )
}

function PluginCard({ plugin, organizationId }: { plugin: Plugin; organizationId: string }) {
  const t = useMessages()
  const hasUpdate = plugin.latest_tag !== null && plugin.tag !== null && plugin.latest_tag !== plugin.tag
  return (
    <Card withBorder radius="lg" component="article">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Link
          to="/organization/$organizationId/plugins/$pluginId"
          params={{ organizationId, pluginId: String(plugin.id) }}
        >
          {plugin.name}
        </Link>
        {hasUpdate && (
          <Badge color="yellow" variant="light">
            {t.plugins.updateAvailable}
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={4}>
        {plugin.description || t.plugins.types[plugin.plugin_type]}
      </Text>
      {plugin.tag && (
        <Text size="xs" c="dimmed" mt="xs">
          {plugin.tag}
        </Text>
      )}
    </Card>
  )
}

function Install({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [url, setUrl] = useState('')
  const open = async (plugin: Plugin) => {
    await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
    await navigate({
      to: '/organization/$organizationId/plugins/$pluginId',
      params: { organizationId, pluginId: String(plugin.id) },
    })
  }
  const install = useMutation({
    mutationFn: () => call(routes.plugins.install, { params: scope(organizationId), body: { url } }),
    onSuccess: open,
  })
  const write = useMutation({
    mutationFn: () =>
      call(routes.plugins.create, {
        params: scope(organizationId),
        body: { plugin_type: 'source', name: t.plugins.untitled },
      }),
    onSuccess: open,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    install.mutate()
  }
  const atField = fieldProblem(install.error, 'url')
  return (
    <form onSubmit={submit}>
      {!atField && <ProblemAlert error={install.error ?? write.error} />}
      <Group align="flex-start">
        <TextInput
          label={t.plugins.address}
          description={t.plugins.addressHint}
          required
          withAsterisk={false}
          value={url}
          error={atField}
          onChange={event => setUrl(event.currentTarget.value)}
          flex="1 1 260px"
          maw={520}
        />
        <Button type="submit" mt={44} loading={install.isPending}>
          {t.plugins.install}
        </Button>
        <Button variant="default" mt={44} loading={write.isPending} onClick={() => write.mutate()}>
          {t.plugins.write}
        </Button>
      </Group>
    </form>
  )
}

function Catalogue({ organizationId, isAdmin }: { organizationId: string; isAdmin: boolean }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const installed = usePlugins(organizationId).data ?? []
  const catalogue = useQuery({
    queryKey: ['plugin-catalogue', organizationId],
    queryFn: async ({ signal }) =>
      (await call(routes.plugins.repository, { params: scope(organizationId), signal })).results,
  })
  const install = useMutation({
    mutationFn: (entry: CatalogueEntry) =>
      call(routes.plugins.install, { params: scope(organizationId), body: { url: entry.url } }),
    onSuccess: async plugin => {
      notify.tell({ message: t.plugins.installedNow(plugin.name) })
      await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
    },
    onError: (error, entry) => notify.fail(error, entry.name),
  })
  return (
    <Loaded query={catalogue}>
      {entries => (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {entries.map(entry => (
            <Card key={entry.url} withBorder radius="lg" component="article">
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <Text fw={600} size="sm">
                  {entry.name}
                </Text>
                {installed.some(({ url }) => url === entry.url) ? (
                  <Badge variant="light" color="green">
                    {t.plugins.installed}
                  </Badge>
                ) : (
                  isAdmin && (
                    <ActionIcon
                      variant="default"
                      aria-label={t.plugins.installNamed(entry.name)}
                      loading={install.isPending && install.variables?.url === entry.url}
                      onClick={() => install.mutate(entry)}
                    >
                      <PlusIcon size={16} />
                    </ActionIcon>
                  )
                )}
              </Group>
              <Text size="sm" c="dimmed" mt={4}>
                {entry.description}
              </Text>
            </Card>
          ))}
        </SimpleGrid>
      )}
    </Loaded>
  )
}
