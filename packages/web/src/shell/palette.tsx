import { Kbd } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { SearchIcon } from '../ui/icons.tsx'
import classes from './shell.module.css'

const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }))

/** The command palette: a button, and Ctrl K or ⌘ K, also while typing. */
export function PaletteButton() {
  const t = useMessages()
  const [isOpen, setIsOpen] = useState(false)
  useHotkeys([['mod+K', () => setIsOpen(true)]], [])
  return (
    <>
      <button type="button" className={classes.palette} onClick={() => setIsOpen(true)}>
        <SearchIcon size={16} />
        <span>{t.palette.open}</span>
        <Kbd size="xs" aria-hidden="true" visibleFrom="sm">
          {navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K'}
        </Kbd>
      </button>
      <Suspense fallback={null}>{isOpen && <PaletteDialog onClose={() => setIsOpen(false)} />}</Suspense>
    </>
  )
}
