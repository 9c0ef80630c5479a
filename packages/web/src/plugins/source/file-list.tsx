import { ActionIcon, Button, Menu, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { DotsIcon, PlusIcon } from '../../ui/icons.tsx'
import { type Files, fileNameError, stateOf } from './edited-files.ts'
import classes from './file-list.module.css'

interface Props {
  stored: Files
  edited: Files
  shown: string
  /** The file with a compile error. */
  fileWithError: string | undefined
  isEditable: boolean
  onShow: (name: string) => void
  onAdd: (name: string) => void
  onRename: (from: string, to: string) => void
  onRemove: (name: string) => void
}

type FileDialog = { readonly kind: 'add' } | { readonly kind: 'rename' | 'remove'; readonly name: string }

/** The files of a plugin with their state relative to the stored version. */
export function FileList(props: Props) {
  const t = useMessages()
  const [dialog, setDialog] = useState<FileDialog>()
  const close = () => setDialog(undefined)
  return (
    <nav aria-label={t.plugins.files} className={classes.files}>
      <ul className={classes.list}>
        {Object.keys(props.edited)
          .sort()
          .map(name => (
            <li key={name} className={classes.item}>
              <FileButton {...props} name={name} />
              {props.isEditable && <FileMenu name={name} onChoose={kind => setDialog({ kind, name })} />}
            </li>
          ))}
      </ul>
      {props.isEditable && (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<PlusIcon size={14} />}
          onClick={() => setDialog({ kind: 'add' })}
        >
          {t.plugins.addFile}
        </Button>
      )}
      {dialog?.kind === 'add' && (
        <NameDialog title={t.plugins.addFile} initial="" files={props.edited} onName={props.onAdd} onClose={close} />
      )}
      {dialog?.kind === 'rename' && (
        <NameDialog
          title={t.plugins.renameFile(dialog.name)}
          initial={dialog.name}
          files={props.edited}
          onName={name => props.onRename(dialog.name, name)}
          onClose={close}
        />
      )}
      {dialog?.kind === 'remove' && (
        <ConfirmDialog
          question={t.plugins.removeFileQuestion(dialog.name)}
          label={t.plugins.removeFile}
          detail={t.plugins.removeFileDetail}
          onConfirm={() => props.onRemove(dialog.name)}
          onClose={close}
        />
      )}
    </nav>
  )
}

function FileButton({ name, shown, stored, edited, fileWithError, onShow }: Props & { name: string }) {
  const t = useMessages()
  const state = stateOf(name, stored, edited)
  const marks = [
    ...(name === fileWithError ? [t.plugins.fileStates.error] : []),
    ...(state === 'same' ? [] : [t.plugins.fileStates[state]]),
  ]
  return (
    <button
      type="button"
      className={classes.file}
      aria-current={name === shown ? 'true' : undefined}
      onClick={() => onShow(name)}
    >
      <span className={classes.name}>{name}</span>
      {marks.length > 0 && (
        <Text span size="xs" c={name === fileWithError ? 'red' : 'dimmed'}>
          {marks.join(', ')}
        </Text>
      )}
    </button>
  )
}

function FileMenu({ name, onChoose }: { name: string; onChoose: (kind: 'rename' | 'remove') => void }) {
  const t = useMessages()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={t.plugins.fileActions(name)}>
          <DotsIcon size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChoose('rename')}>{t.plugins.rename}</Menu.Item>
        <Menu.Item c="var(--mantine-color-error)" onClick={() => onChoose('remove')}>
          {t.plugins.removeFile}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface NameProps {
  title: string
  initial: string
  files: Files
  onName: (name: string) => void
  onClose: () => void
}

function NameDialog({ title, initial, files, onName, onClose }: NameProps) {
  const t = useMessages()
  const [name, setName] = useState(initial)
  const [hasTried, setHasTried] = useState(false)
  const nameError = name === initial && initial !== '' ? undefined : fileNameError(name, files)
  const submit = () => {
    setHasTried(true)
    if (nameError) return
    if (name !== initial) onName(name)
    onClose()
  }
  return (
    <FormDialog title={title} label={t.plugins.applyName} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t.plugins.fileName}
        description={t.plugins.fileNameHint}
        data-autofocus
        value={name}
        error={hasTried && nameError ? t.plugins.fileNameErrors[nameError] : undefined}
        onChange={event => setName(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
