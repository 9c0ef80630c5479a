import { Table } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import classes from './data-table.module.css'

interface Row {
  readonly key: string | number
  readonly cells: readonly ReactNode[]
  /** Below the cells, over the whole width. */
  readonly details?: ReactNode
}

interface Props {
  label: string
  head: readonly string[]
  rows: readonly Row[]
  /** With as many columns as the data has: the table scrolls, not the page. */
  isMatrix?: boolean
}

const isShort = (cell: ReactNode): boolean => typeof cell === 'string' && cell.length <= 24

/** A table that becomes a list of cards on a phone. Explicit roles keep it a table for screen readers. */
export function DataTable({ label, head, rows, isMatrix = false }: Props) {
  const table = (
    <Table aria-label={label} verticalSpacing="xs" className={classes.table} role="table">
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {head.map((cell, index) =>
            // biome-ignore-start lint/suspicious/noArrayIndexKey: columns never move.
            cell === '' ? (
              <Table.Td key={index} role="cell" />
            ) : (
              <Table.Th key={index} role="columnheader">
                {cell}
              </Table.Th>
            ),
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map(({ key, cells, details }) => (
          <Fragment key={key}>
            <Table.Tr role="row">
              {cells.map(
                (cell, index) =>
                  index === 0 ? (
                    <Table.Th key={index} scope="row" role="rowheader" fw={500}>
                      {cell}
                    </Table.Th>
                  ) : (
                    <Table.Td
                      key={index}
                      role="cell"
                      data-label={head[index] || undefined}
                      data-actions={head[index] === '' || undefined}
                      data-short={isShort(cell) || undefined}
                    >
                      {cell}
                    </Table.Td>
                  ),
                // biome-ignore-end lint/suspicious/noArrayIndexKey: columns never move.
              )}
            </Table.Tr>
            {details && (
              <Table.Tr role="row">
                <Table.Td role="cell" colSpan={head.length}>
                  {details}
                </Table.Td>
              </Table.Tr>
            )}
          </Fragment>
        ))}
      </Table.Tbody>
    </Table>
  )
  if (!isMatrix) return table
  return (
    // Without a mouse, only a focused element scrolls.
    <div className={classes.scroller} tabIndex={0}>
      {table}
    </div>
  )
}
