import { Menu, type MenuProps } from '@mantine/core'
import { type ReactNode, type RefObject, useLayoutEffect } from 'react'

interface Props extends Omit<MenuProps, 'opened' | 'children'> {
  element: RefObject<HTMLElement | null>
  isOpen: boolean
  maxHeight?: string
  items: (parts: typeof Menu) => ReactNode
}

/** A menu at an element that exists already. */
export function MenuAt({ element, isOpen, maxHeight, items, ...menu }: Props) {
  return (
    <Menu {...menu} opened={isOpen}>
      <Menu.Target>
        <ElementOf element={element} />
      </Menu.Target>
      <Menu.Dropdown {...(maxHeight !== undefined && { mah: maxHeight, style: { overflowY: 'auto' } })}>
        {items(Menu)}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Gives the element to the menu, as if it were rendered here. */
function ElementOf(props: Pick<Props, 'element'> & { ref?: (node: HTMLElement | null) => void }) {
  const { element, ref } = props
  useLayoutEffect(() => ref?.(element.current), [ref, element])
  return null
}
