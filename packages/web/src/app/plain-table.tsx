import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  label: string
  head: readonly ReactNode[]
  rows: readonly { readonly key: string | number; readonly cells: readonly ReactNode[] }[]
  minWidth?: number
}

/** A table that scrolls by itself on narrow screens, also by keyboard. The first cell names its row. */
export function PlainTable({ label, head, rows, minWidth = 480 }: Props) {
  return (
    <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table aria-label={label} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {head.map((cell, index) =>
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
              cell === '' ? <Table.Td key={index} /> : <Table.Th key={index}>{cell}</Table.Th>,
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key}>
              {cells.map((cell, index) =>
                index === 0 ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
                  <Table.Th key={index} scope="row" fw={500}>
                    {cell}
                  </Table.Th>
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
                  <Table.Td key={index}>{cell}</Table.Td>
                ),
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
