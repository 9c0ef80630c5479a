import { Kbd } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Suspense, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import classes from '../shell.module.css'
import { PaletteDialog } from './palette-dialog.tsx'
import type { ToggleRequest } from './palette-toggle.tsx'

const PaletteToggle = lazyComponent(async () => (await import('./palette-toggle.tsx')).PaletteToggle)

/**
 * The command palette: Ctrl K or ⌘ K, also while typing. The dialog is not loaded on demand: until it were loaded, the
 * keys would go to the page behind it.
 */
export function usePalette() {
  const [isOpen, setIsOpen] = useState(false)
  const [toggled, setToggled] = useState<ToggleRequest>()
  const open = () => setIsOpen(true)
  useHotkeys([['mod+K', open]], [])
  const dialog = (
    <>
      {isOpen && <PaletteDialog onToggle={setToggled} onClose={() => setIsOpen(false)} />}
      {/* It stays, because it offers undo. */}
      <Suspense fallback={null}>{toggled && <PaletteToggle request={toggled} />}</Suspense>
    </>
  )
  return { open, dialog }
}

export function PaletteButton({ onOpen }: { onOpen: () => void }) {
  const t = useMessages()
  return (
    <button type="button" className={classes.palette} onClick={onOpen}>
      <SearchIcon size={16} />
      <span>{t.palette.open}</span>
      <Kbd size="xs" aria-hidden="true" visibleFrom="sm">
        {navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K'}
      </Kbd>
    </button>
  )
}
