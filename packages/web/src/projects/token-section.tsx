import { type Project, routes } from '@halyard/contract'
import { Alert, Button, Code, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { CopyTextButton } from '../ui/data/copy-button.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../ui/feedback/notify.ts'

const overlapHours = [1, 24, 168, 720]

/** The public token, and its rotation with a time in which both tokens work. */
export function TokenSection({ project, canEdit }: { project: Project; canEdit: boolean }) {
  const t = useMessages()
  const { moment } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: String(project.id) }
  const refresh = () => queries.invalidateQueries({ queryKey: ['projects'] })
  const [isAsking, { open, close }] = useDisclosure(false)
  const [hours, setHours] = useState('24')
  const rotate = async () => {
    await call(routes.projects.resetToken, { params, query: { overlap_hours: hours } })
    notify.success({ message: t.project.tokenRotated })
    await refresh()
  }
  const revoke = async () => {
    await call(routes.projects.endTokenOverlap, { params })
    await refresh()
  }
  const { previous_token: previous } = project
  return (
    <section>
      <Title order={2}>{t.project.token}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.project.tokenIntro}
      </Text>
      <Group gap="xs">
        <Code>{project.api_token}</Code>
        <CopyTextButton value={project.api_token} of={t.project.token} />
        {canEdit && (
          <Button variant="subtle" color="red" size="compact-sm" onClick={open}>
            {t.project.rotateToken}
          </Button>
        )}
      </Group>
      {previous && (
        <Alert color="yellow" mt="xs">
          <Group justify="space-between">
            <span>{t.project.previousToken(previous.mask_value, moment(previous.expires_at))}</span>
            {canEdit && (
              <ConfirmButton
                label={t.project.revokePrevious}
                question={t.project.revokePreviousQuestion}
                detail={t.project.revokePreviousDetail}
                done={t.project.previousRevoked}
                onConfirm={revoke}
              />
            )}
          </Group>
        </Alert>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        question={t.project.rotateTokenQuestion(project.name)}
        label={t.project.rotateToken}
        detail={
          <Stack gap="sm">
            <Text>{t.project.rotateTokenDetail}</Text>
            <NativeSelect
              label={t.project.overlap}
              value={hours}
              onChange={event => setHours(event.currentTarget.value)}
              data={[
                ...overlapHours.map(value => ({ value: String(value), label: t.project.overlapHours(value) })),
                { value: '0', label: t.project.noOverlap },
              ]}
            />
          </Stack>
        }
        onConfirm={rotate}
        onClose={close}
      />
    </section>
  )
}
