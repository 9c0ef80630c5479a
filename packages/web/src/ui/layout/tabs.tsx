import { Tabs } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './tabs.module.css'

interface Props<Name extends string> {
  /** The accessible name of the tab list. */
  label: string
  names: readonly Name[]
  tabs: Record<Name, { readonly label: string; readonly content: () => ReactNode }>
  value: Name
  onChange: (name: Name) => void
}

/** A page's tabs in one scrollable row; only the selected panel is mounted. */
export function PageTabs<Name extends string>({ label, names, tabs, value, onChange }: Props<Name>) {
  const row = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another one to bring into sight.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-selected="true"]')
    // Horizontal only: the page keeps its scroll position.
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
