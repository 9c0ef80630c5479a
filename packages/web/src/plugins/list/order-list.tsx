import { type Plugin, routes } from '@halyard/contract'
import { ActionIcon, Badge, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { DownIcon, UpIcon } from '../../ui/icons.tsx'
import { type PluginConfig, useConfigs, usePlugins } from '../plugin-queries.ts'
import classes from './order-list.module.css'

interface Props {
  organizationId: string
  projectId: string
  isAdmin: boolean
}

/** The order in which plugins process an event. */
export function OrderList({ organizationId, projectId, isAdmin }: Props) {
  const t = useMessages()
  const query = combineQueries({ plugins: usePlugins(organizationId), configs: useConfigs(projectId) })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.plugins.orderIntro}
      </Text>
      <Loaded query={query}>
        {loaded =>
          loaded.configs.length === 0 ? (
            <Text size="sm">{t.plugins.nothingToOrder}</Text>
          ) : (
            <Chain {...loaded} projectId={projectId} isAdmin={isAdmin} />
          )
        }
      </Loaded>
    </Stack>
  )
}

interface ChainProps {
  plugins: readonly Plugin[]
  configs: readonly PluginConfig[]
  projectId: string
  isAdmin: boolean
}

function Chain({ plugins, configs, projectId, isAdmin }: ChainProps) {
  const t = useMessages()
  const [announcement, announce] = useState('')
  const rearrange = useRearrange(projectId)
  const nameOf = (config: PluginConfig) => plugins.find(({ id }) => id === config.plugin)?.name ?? String(config.plugin)
  const move = (index: number, by: -1 | 1) => {
    const moved = configs[index]
    const target = index + by
    if (!moved || target < 0 || target >= configs.length) return
    const next = configs.toSpliced(index, 1).toSpliced(target, 0, moved)
    announce(t.plugins.movedTo(nameOf(moved), target + 1, configs.length))
    rearrange.mutate(next)
  }
  return (
    <>
      <ol className={classes.chain}>
        {configs.map((config, index) => (
          <li key={config.id} className={classes.link}>
            <Text span size="sm" c="dimmed" className={classes.place as string}>
              {index + 1}
            </Text>
            <div className={classes.what}>
              <Text size="sm" fw={600}>
                {nameOf(config)}
              </Text>
              <Text size="xs" c="dimmed">
                {roleOf(
                  plugins.find(({ id }) => id === config.plugin),
                  t.plugins.chainRoles,
                )}
              </Text>
            </div>
            <Badge variant="light" color={config.enabled ? 'green' : 'gray'}>
              {config.enabled ? t.plugins.on : t.plugins.off}
            </Badge>
            {isAdmin && (
              <Group gap={4} wrap="nowrap">
                <Mover label={t.plugins.moveUp(nameOf(config))} isEnd={index === 0} onMove={() => move(index, -1)}>
                  <UpIcon size={16} />
                </Mover>
                <Mover
                  label={t.plugins.moveDown(nameOf(config))}
                  isEnd={index === configs.length - 1}
                  onMove={() => move(index, 1)}
                >
                  <DownIcon size={16} />
                </Mover>
              </Group>
            )}
          </li>
        ))}
      </ol>
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
    </>
  )
}

/** Stays focusable at the ends of the list, so that moving there does not lose the focus. */
function Mover(props: { label: string; isEnd: boolean; onMove: () => void; children: React.ReactNode }) {
  return (
    <ActionIcon
      variant="default"
      aria-label={props.label}
      aria-disabled={props.isEnd}
      {...(props.isEnd && { 'data-disabled': true })}
      onClick={props.isEnd ? undefined : props.onMove}
    >
      {props.children}
    </ActionIcon>
  )
}

type ChainRole = 'changes' | 'sees' | 'neither'

function roleOf(plugin: Plugin | undefined, words: Readonly<Record<ChainRole, string>>): string {
  const methods = Array.isArray(plugin?.capabilities.methods) ? plugin.capabilities.methods : []
  if (methods.includes('processEvent')) return words.changes
  return methods.includes('onEvent') || methods.includes('composeWebhook') ? words.sees : words.neither
}

/** Applied optimistically; reverted if the server rejects it. */
function useRearrange(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const queryKey = ['plugin-configs', projectId]
  return useMutation({
    mutationFn: (configs: readonly PluginConfig[]) =>
      call(routes.pluginConfigs.rearrange, {
        params: { project_id: projectId },
        body: { orders: Object.fromEntries(configs.map(({ plugin }, index) => [plugin, index + 1])) },
      }),
    onMutate: async configs => {
      await queries.cancelQueries({ queryKey })
      queries.setQueryData(queryKey, configs)
    },
    onError: error => notify.fail(error),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
