import { type Plugin, type PluginWrite, routes } from '@halyard/contract'
import { Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from '../app/notify.ts'
import { Loaded, ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'

interface Props {
  plugin: Plugin
  organizationId: string
  isAdmin: boolean
}

/** The files of a plugin. Those written in place can be changed; the server compiles them before it keeps them. */
export function PluginSource(props: Props) {
  const call = useCall()
  const params = { parent_lookup_organization_id: props.organizationId, id: String(props.plugin.id) }
  const source = useQuery({
    queryKey: ['plugins', props.organizationId, params.id, 'source', props.plugin.tag],
    queryFn: async ({ signal }) => (await call(routes.plugins.source, { params, signal })).source,
  })
  return <Loaded query={source}>{files => <Files {...props} files={files} />}</Loaded>
}

function Files({ plugin, organizationId, isAdmin, files }: Props & { files: Readonly<Record<string, string>> }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const isEditable = isAdmin && plugin.plugin_type === 'source'
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.keys(files).length === 0 && isEditable ? { 'index.js': '' } : { ...files },
  )
  const names = Object.keys(texts).sort()
  const [shown, setShown] = useState(names.find(name => name.startsWith('index.')) ?? names[0] ?? '')
  const [newName, setNewName] = useState('')
  const save = useMutation({
    mutationFn: () =>
      call(routes.plugins.updateSource, {
        params: { parent_lookup_organization_id: organizationId, id: String(plugin.id) },
        // File names are keys beside the fields of a plugin.
        body: texts as PluginWrite,
      }),
    onSuccess: async () => {
      notify.tell({ message: t.editor.saved })
      await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
    },
  })
  if (names.length === 0) return <Text size="sm">{t.plugins.noSource}</Text>
  return (
    <Stack>
      <ProblemAlert error={save.error} />
      <Group align="flex-end">
        <NativeSelect
          label={t.plugins.file}
          value={shown}
          onChange={event => setShown(event.currentTarget.value)}
          data={names}
        />
        {isEditable && (
          <>
            <TextInput
              label={t.plugins.newFile}
              placeholder="lib.ts"
              value={newName}
              onChange={event => setNewName(event.currentTarget.value)}
            />
            <Button
              variant="default"
              disabled={!/^[\w./-]+\.\w+$/.test(newName) || newName in texts}
              onClick={() => {
                setTexts({ ...texts, [newName]: '' })
                setShown(newName)
                setNewName('')
              }}
            >
              {t.plugins.addFile}
            </Button>
          </>
        )}
      </Group>
      <Textarea
        aria-label={shown}
        autosize
        minRows={14}
        maxRows={40}
        readOnly={!isEditable}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.82rem', tabSize: 2 } }}
        value={texts[shown] ?? ''}
        onChange={event => setTexts({ ...texts, [shown]: event.currentTarget.value })}
      />
      {isEditable && (
        <Group justify="flex-end">
          <Button loading={save.isPending} onClick={() => save.mutate()}>
            {t.plugins.compile}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
