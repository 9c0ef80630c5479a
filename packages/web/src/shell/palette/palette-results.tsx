import { Text } from '@mantine/core'
import { useEffect } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import classes from '../shell.module.css'
import type { ToggleRequest } from './palette-toggle.tsx'
import { debuggerId, type PaletteItem, usePaletteItems } from './use-palette-items.ts'

interface Props {
  id: string
  text: string
  /** The index of the chosen result. */
  at: number
  onItems: (items: readonly PaletteItem[]) => void
  onGo: (item: PaletteItem) => void
  onToggle: (request: ToggleRequest) => void
}

export function PaletteResults({ id, text, at, onItems, onGo, onToggle }: Props) {
  const t = useMessages()
  const { items, isSettled } = usePaletteItems(text, onToggle)
  const names = items.map(item => item.id).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same results are reported once.
  useEffect(() => onItems(items), [names, text])
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, at])
  const hasNothing = text.trim() !== '' && isSettled && items.every(item => item.id === debuggerId)
  return (
    <>
      <div id={id} role="listbox" aria-label={t.palette.title} className={classes.targets}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={item.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            className={classes.target}
            onClick={() => onGo(item)}
          >
            <span data-dangerous={item.isDangerous || undefined}>{item.label}</span>
            <Text size="xs" c="dimmed" span flex="none">
              {item.kind}
            </Text>
          </div>
        ))}
      </div>
      <Text size="sm" c="dimmed" role="status" mt="xs">
        {hasNothing ? t.palette.noResults : ''}
      </Text>
    </>
  )
}
