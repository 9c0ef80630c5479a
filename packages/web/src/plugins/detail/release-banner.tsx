import { routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { PluginChanges } from '../plugin-changes.tsx'
import { needsAcceptance, scope, type UsedPlugin } from '../plugin-queries.ts'

interface Props {
  plugin: UsedPlugin
  organizationId: string
  isAdmin: boolean
}

/** Another organization has changed a plugin that runs here: its new version is reviewed before it runs. */
export function ReleaseBanner({ plugin, organizationId, isAdmin }: Props) {
  const t = useMessages()
  const [isOpen, setIsOpen] = useState(false)
  if (!needsAcceptance(plugin, organizationId)) return null
  return (
    <Alert color="yellow" title={t.plugins.releaseTitle} mb="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t.plugins.releaseHint(plugin.organization_name)}</Text>
        {isAdmin ? (
          <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
            {t.plugins.reviewRelease}
          </Button>
        ) : (
          <Text size="sm">{t.plugins.releaseAskAdmin}</Text>
        )}
      </Stack>
      {isOpen && <ReleaseDialog plugin={plugin} organizationId={organizationId} onClose={() => setIsOpen(false)} />}
    </Alert>
  )
}

/** The reviewed release is the accepted one: a change in the meantime is refused by the server and shown. */
function ReleaseDialog({ plugin, organizationId, onClose }: Omit<Props, 'isAdmin'> & { onClose: () => void }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { ...scope(organizationId), id: String(plugin.id) }
  const review = useApiQuery(
    ['plugin-release', organizationId, plugin.id, plugin.release],
    routes.plugins.releaseChanges,
    { params },
  )
  const accept = useMutation({
    mutationFn: (release: string) => call(routes.plugins.accept, { params, body: { release } }),
    onSuccess: async () => {
      notify.success({ message: t.plugins.releaseAccepted(plugin.name) })
      onClose()
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['plugins', organizationId] }),
        queries.invalidateQueries({ queryKey: ['plugin-configs'] }),
      ])
    },
    onError: () => queries.invalidateQueries({ queryKey: ['plugin-release', organizationId, plugin.id] }),
  })
  return (
    <Dialog title={t.plugins.releaseTitle} size="xl" onClose={onClose}>
      <Loaded query={review}>
        {({ release, changes, source_known: isSourceKnown }) => (
          <Stack>
            <Text size="sm">{t.plugins.releaseQuestion}</Text>
            {!isSourceKnown && <Text size="sm">{t.plugins.releaseSourceUnknown}</Text>}
            {changes.length > 0 ? (
              <PluginChanges isWhole changes={changes} />
            ) : (
              isSourceKnown && <Text size="sm">{t.plugins.releaseUnchanged}</Text>
            )}
            <ProblemAlert error={accept.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                {t.common.cancel}
              </Button>
              <Button loading={accept.isPending} onClick={() => accept.mutate(release)}>
                {t.plugins.acceptRelease}
              </Button>
            </Group>
          </Stack>
        )}
      </Loaded>
    </Dialog>
  )
}
