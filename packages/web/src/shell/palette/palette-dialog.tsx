import { TextInput } from '@mantine/core'
import { type KeyboardEvent, useId, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { TopDialog } from '../../ui/dialog/top-dialog.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { PaletteResults } from './palette-results.tsx'
import type { ToggleRequest } from './palette-toggle.tsx'
import type { PaletteItem } from './use-palette-items.ts'

const none: readonly PaletteItem[] = []

interface Props {
  onToggle: (request: ToggleRequest) => void
  onClose: () => void
}

/** A search field with results; arrow keys choose, Enter opens. */
export function PaletteDialog({ onToggle, onClose }: Props) {
  const t = useMessages()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [items, setItems] = useState(none)
  const list = useId()
  const at = Math.min(chosen, items.length - 1)
  const go = (item: PaletteItem | undefined) => {
    if (!item) return
    onClose()
    item.go()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const target = targetOf(event.key, at, items.length)
    if (target !== undefined) setChosen(target)
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(items[at])
    if (target !== undefined || event.key === 'Enter') event.preventDefault()
  }
  return (
    <TopDialog label={t.palette.title} onClose={onClose}>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={t.palette.title}
        aria-expanded={items.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        {...(items.length > 0 && { 'aria-activedescendant': `${list}-${at}` })}
        placeholder={t.palette.hint}
        leftSection={<SearchIcon size={16} />}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <PaletteResults id={list} text={text} at={at} onItems={setItems} onGo={go} onToggle={onToggle} />
    </TopDialog>
  )
}

function targetOf(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(count - 1, at + 1)
  if (key === 'ArrowUp') return Math.max(0, at - 1)
  return undefined
}
