import type { Project } from '@halyard/contract'
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../ui/feedback/problems.tsx'

interface Props {
  project: Project
  onDelete: () => Promise<unknown>
}

/** Deletes a project after its name was typed. */
export function DeleteProject({ project, onDelete }: Props) {
  const t = useMessages()
  const [isOpen, { open, close }] = useDisclosure(false)
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isTyped = typed.trim() === project.name.trim()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!isTyped) return
    setIsBusy(true)
    setError(null)
    try {
      await onDelete()
    } catch (problem) {
      setError(problem)
      setIsBusy(false)
    }
  }
  return (
    <section>
      <Title order={2}>{t.project.remove}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.project.removeIntro}
      </Text>
      <Button variant="light" color="red" onClick={open}>
        {t.project.remove}
      </Button>
      <Dialog isOpen={isOpen} title={t.project.removeQuestion(project.name)} onClose={close}>
        <form onSubmit={submit}>
          <Stack>
            <ProblemAlert error={error} />
            <Text>{t.project.removeDetail}</Text>
            <TextInput
              data-autofocus
              label={t.project.typeName(project.name)}
              autoComplete="off"
              value={typed}
              onChange={event => setTyped(event.currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t.common.cancel}
              </Button>
              <Button type="submit" color="red" disabled={!isTyped} loading={isBusy}>
                {t.project.remove}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </section>
  )
}
