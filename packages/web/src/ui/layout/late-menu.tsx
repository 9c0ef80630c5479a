import { Menu, type MenuProps } from '@mantine/core'
import {
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  useDeferredValue,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'

interface Props extends Pick<MenuProps, 'width' | 'position' | 'closeOnItemClick'> {
  target: ReactElement<HTMLAttributes<HTMLElement> & { ref?: Ref<HTMLButtonElement> }>
  /** The height beyond which it scrolls. */
  maxHeight?: string
  children: ReactNode
}

/** A button with a menu. The menu is rendered after the page around it: the first paint does not wait for what is closed. */
export function LateMenu({ target, maxHeight, children, ...menu }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const isRendered = useDeferredValue(true, false)
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
      {isRendered && (
        <Menu {...menu} id={id} opened={isOpen} onChange={setIsOpen}>
          <Menu.Target>
            <ElementOf element={button} />
          </Menu.Target>
          <Menu.Dropdown {...(maxHeight !== undefined && { mah: maxHeight, style: { overflowY: 'auto' } })}>
            {children}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  )
}

/** Places the menu at an element that exists already. */
function ElementOf({
  element,
  ref,
}: {
  element: RefObject<HTMLElement | null>
  ref?: (node: HTMLElement | null) => void
}) {
  useLayoutEffect(() => ref?.(element.current), [ref, element])
  return null
}
