import { type PayloadSchema, routes } from '@halyard/contract'
import { Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { jsonErrorPosition } from '../../ui/data/json-error.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'
import classes from '../editor/editor.module.css'

interface Props {
  params: { project_id: string; id: string }
  stored: PayloadSchema
  canEdit: boolean
}

/** What all payloads of the flag must look like. The server checks it whenever the flag is saved. */
export function PayloadSchemaForm({ params, stored, canEdit }: Props) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const [text, setText] = useState(() => textOf(stored.schema))
  const save = useMutation({
    mutationFn: async (submitted: string) => {
      if (submitted.trim() === '') {
        await call(routes.payloadSchemas.remove, { params })
        return { ...stored, schema: null }
      }
      return call(routes.payloadSchemas.put, { params, body: { schema: JSON.parse(submitted) } })
    },
    onSuccess: (saved, submitted) => {
      queries.setQueryData(['payload-schema', params.project_id, params.id], saved)
      setText(unlessEdited(submitted, textOf(saved.schema)))
      notify.success({ message: saved.schema === null ? t.payloadSchema.removed : t.payloadSchema.saved })
    },
  })
  const position = text.trim() === '' ? undefined : jsonErrorPosition(text)
  const isObject = text.trim() === '' || text.trimStart().startsWith('{')
  const problem = position
    ? t.editor.invalidJson(position.line, position.column)
    : isObject
      ? fieldProblem(t, save.error, 'schema')
      : t.payloadSchema.notAnObject
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.payloadSchema.title}>
      <Stack gap="sm">
        <Title order={2}>{t.payloadSchema.title}</Title>
        {isProblem(save.error) && save.error.field === 'schema' ? null : <ProblemAlert error={save.error} />}
        {!canEdit && stored.schema === null ? (
          <Text size="sm" c="dimmed">
            {t.payloadSchema.none}
          </Text>
        ) : (
          <Textarea
            label={t.payloadSchema.label}
            description={t.payloadSchema.hint}
            placeholder='{"type": "object", "required": ["color"]}'
            autosize
            minRows={3}
            maxRows={20}
            spellCheck={false}
            readOnly={!canEdit}
            classNames={{ input: classes.payload as string }}
            value={text}
            error={problem}
            onChange={event => {
              save.reset()
              setText(event.currentTarget.value)
            }}
          />
        )}
        {canEdit && (
          <Group justify="flex-end">
            <Button
              loading={save.isPending}
              disabled={position !== undefined || !isObject || text === textOf(stored.schema)}
              onClick={() => save.mutate(text)}
            >
              {t.common.save}
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  )
}

const textOf = (schema: PayloadSchema['schema']): string => (schema === null ? '' : JSON.stringify(schema, null, 2))
