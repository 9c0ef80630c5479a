import { Anchor, Badge, Group, Paper, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useProject } from '../../services/session-queries.ts'
import { InlineMarkdown } from '../../ui/data/inline-markdown.tsx'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { InstallForm } from '../install/install-form.tsx'
import {
  hasUpdate,
  needsAcceptance,
  type PluginConfig,
  type UsedPlugin,
  useConfigs,
  usePlugins,
} from '../plugin-queries.ts'

interface Props {
  organizationId: string
  projectId: string | undefined
  isAdmin: boolean
}

const searchFrom = 8

export function InstalledList(props: Props) {
  const query = combineQueries({ plugins: usePlugins(props.organizationId), configs: useConfigs(props.projectId) })
  return (
    <Stack gap="xl">
      {props.isAdmin && <InstallForm organizationId={props.organizationId} />}
      <Loaded query={query}>
        {loaded => (loaded.plugins.length === 0 ? <Nothing /> : <Found {...props} {...loaded} />)}
      </Loaded>
    </Stack>
  )
}

/** What plugins can do, shown when there are none. */
function Nothing() {
  const t = useMessages()
  return (
    <Paper withBorder p="lg" radius="lg">
      <Title order={2} mb="xs">
        {t.plugins.none}
      </Title>
      <Text size="sm">{t.plugins.noneHint}</Text>
      <ul>
        {t.plugins.ideas.map(idea => (
          <Text key={idea} component="li" size="sm">
            {idea}
          </Text>
        ))}
      </ul>
      <Text size="sm">
        <InlineMarkdown text={t.plugins.noneStart} />
      </Text>
    </Paper>
  )
}

interface FoundProps extends Props {
  plugins: readonly UsedPlugin[]
  configs: readonly PluginConfig[]
}

function Found({ plugins, configs, organizationId, projectId }: FoundProps) {
  const t = useMessages()
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const shown = plugins.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  return (
    <Stack>
      {plugins.length >= searchFrom && (
        <TextInput
          label={t.plugins.search}
          leftSection={<SearchIcon size={16} />}
          maw={360}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
        />
      )}
      {shown.length === 0 && <Text size="sm">{t.plugins.noMatches}</Text>}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {shown.map(plugin => (
          <PluginCard
            key={plugin.id}
            plugin={plugin}
            organizationId={organizationId}
            projectId={projectId}
            config={configs.find(each => each.plugin === plugin.id)}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

interface CardProps {
  plugin: UsedPlugin
  organizationId: string
  projectId: string | undefined
  config: PluginConfig | undefined
}

function PluginCard({ plugin, organizationId, projectId, config }: CardProps) {
  const t = useMessages()
  const project = useProject(projectId ?? '')
  return (
    <Paper withBorder p="md" radius="lg" component="article">
      <Group justify="space-between" align="flex-start" gap="xs">
        <Anchor
          component={Link}
          to="/organization/$organizationId/plugins/$pluginId"
          params={{ organizationId, pluginId: String(plugin.id) } as never}
          fw={600}
          style={{ overflowWrap: 'anywhere' }}
        >
          {plugin.name}
        </Anchor>
        <StateBadge config={config} projectName={project?.name} />
      </Group>
      {plugin.description !== '' && (
        <Text size="sm" c="dimmed" mt={4} lineClamp={3}>
          {plugin.description}
        </Text>
      )}
      <Group gap="xs" mt="sm">
        <Text size="xs" c="dimmed">
          {[t.plugins.types[plugin.plugin_type], plugin.tag].filter(Boolean).join(' · ')}
        </Text>
        {plugin.is_global && (
          <Badge variant="light" color="grape">
            {t.plugins.global}
          </Badge>
        )}
        {needsAcceptance(plugin, organizationId) && (
          <Badge color="yellow" variant="light">
            {t.plugins.releaseTitle}
          </Badge>
        )}
        {hasUpdate(plugin) && (
          <Badge color="yellow" variant="light">
            {t.plugins.updateTo(plugin.latest_tag ?? '')}
          </Badge>
        )}
      </Group>
    </Paper>
  )
}

function StateBadge({ config, projectName }: { config: PluginConfig | undefined; projectName: string | undefined }) {
  const t = useMessages()
  if (projectName === undefined) return null
  if (config?.error) {
    return (
      <Badge variant="light" color="red">
        {t.plugins.states.failed}
      </Badge>
    )
  }
  return (
    <Badge variant="light" color={config?.enabled ? 'green' : 'gray'}>
      {config?.enabled ? t.plugins.states.on(projectName) : t.plugins.states.off(projectName)}
    </Badge>
  )
}
