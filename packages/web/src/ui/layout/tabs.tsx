import { Tabs } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './tabs.module.css'

interface Props<Name extends string> {
  /** What the tabs are of. */
  label: string
  names: readonly Name[]
  tabs: Record<Name, { readonly label: string; readonly content: () => ReactNode }>
  value: Name
  onChange: (name: Name) => void
}

/** The tabs of a page in one row, which scrolls where it is too narrow for all; only the chosen one is there. */
export function PageTabs<Name extends string>({ label, names, tabs, value, onChange }: Props<Name>) {
  const row = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another one to bring into sight.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-selected="true"]')
    // Only sideways: the page itself stays where it is.
    if (row.current && chosen) row.current.scrollLeft = chosen.offsetLeft - row.current.clientWidth / 3
  }, [value])
  return (
    <Tabs value={value} onChange={next => next !== null && onChange(next as Name)} keepMounted={false}>
      <Tabs.List mb="lg" ref={row} className={classes.row} aria-label={label}>
        {names.map(name => (
          <Tabs.Tab key={name} value={name}>
            {tabs[name].label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map(name => (
        <Tabs.Panel key={name} value={name}>
          {name === value && tabs[name].content()}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
