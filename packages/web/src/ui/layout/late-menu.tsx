import type { Menu, MenuProps } from '@mantine/core'
import {
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  type Ref,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { late } from '../late.tsx'
import { firstPaintMilliseconds } from './first-paint.ts'

const MenuAt = late(async () => (await import('./menu-at.tsx')).MenuAt)

interface Props extends Pick<MenuProps, 'width' | 'position' | 'closeOnItemClick'> {
  target: ReactElement<HTMLAttributes<HTMLElement> & { ref?: Ref<HTMLButtonElement> }>
  /** The height beyond which it scrolls. */
  maxHeight?: string
  /** The items, made of the parts of `Menu`. */
  children: (parts: typeof Menu) => ReactNode
}

/**
 * A button with a menu. The menu is loaded and rendered after the page around it, which does not wait for what is closed. One that is
 * opened earlier is loaded at once.
 */
export function LateMenu({ target, children, ...menu }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [isIdle, setIsIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(setIsIdle, firstPaintMilliseconds, true)
    return () => clearTimeout(timer)
  }, [])
  return (
    <>
      {cloneElement(target, {
        ref: button,
        id: `${id}-target`,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        'aria-controls': isOpen ? `${id}-dropdown` : undefined,
        onClick: () => setIsOpen(!isOpen),
      })}
      <Suspense fallback={null}>
        {(isIdle || isOpen) && (
          <MenuAt {...menu} id={id} element={button} isOpen={isOpen} onChange={setIsOpen} items={children} />
        )}
      </Suspense>
    </>
  )
}
