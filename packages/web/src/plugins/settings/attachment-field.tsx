import { Button, FileButton, Group, Input, Text } from '@mantine/core'
import { useId, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { InlineMarkdown } from '../../ui/data/inline-markdown.tsx'
import type { Setting } from './setting-rules.ts'

/** A stored file's metadata, or a file to upload. */
export interface Attachment {
  readonly name: string
  readonly size: number
  readonly upload?: { readonly file_name: string; readonly content_type: string; readonly contents_base64: string }
}

interface Props {
  setting: Setting
  isNeeded: boolean
  value: Attachment | undefined
  error: string | undefined
  onChange: (attachment: Attachment | undefined) => void
}

const attachmentBytesMax = 1024 * 1024

export function AttachmentField({ setting, isNeeded, value, error, onChange }: Props) {
  const t = useMessages()
  const { count } = useFormats()
  const about = useId()
  const [problem, setProblem] = useState<string>()
  const take = async (file: File | null) => {
    if (!file) return
    if (file.size > attachmentBytesMax) return setProblem(t.plugins.fileTooLarge(file.name))
    setProblem(undefined)
    onChange({
      name: file.name,
      size: file.size,
      upload: {
        file_name: file.name,
        content_type: file.type || 'application/octet-stream',
        contents_base64: await base64Of(file),
      },
    })
  }
  return (
    <Input.Wrapper
      label={setting.label}
      labelElement="div"
      description={<InlineMarkdown text={setting.hint} />}
      required={isNeeded}
      withAsterisk={isNeeded}
      error={problem ?? error}
    >
      <Group gap="xs" mt={4}>
        <Text size="sm" id={about} c={value ? 'bright' : 'dimmed'}>
          {value
            ? value.size >= 0
              ? t.plugins.fileShown(value.name, count(value.size))
              : t.plugins.secretFile
            : t.plugins.noFile}
        </Text>
        <FileButton onChange={take}>
          {props => (
            <Button {...props} variant="default" size="xs" aria-describedby={about}>
              {value ? t.plugins.replaceFile(setting.label) : t.plugins.chooseFile(setting.label)}
            </Button>
          )}
        </FileButton>
        {value && (
          <Button variant="subtle" color="gray" size="xs" onClick={() => onChange(undefined)}>
            {t.plugins.removeNamed(setting.label)}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
