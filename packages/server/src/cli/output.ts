/** How commands print: data to standard output, everything else to standard error. */

const hasColor = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && !process.env.NO_COLOR

export const green = (text: string): string => (hasColor(process.stdout) ? `\u001b[32m${text}\u001b[0m` : text)
export const red = (text: string): string => (hasColor(process.stdout) ? `\u001b[31m${text}\u001b[0m` : text)

/** What a long command is doing; not part of its output. */
export const progress = (text: string): void => void process.stderr.write(`${text}\n`)

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2))

/** Rows as JSON, or as a table with one line each. */
export function printRows<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
  { json }: { readonly json?: boolean },
): void {
  if (json) {
    printJson(rows)
    return
  }
  if (rows.length === 0) {
    progress('Nothing found.')
    return
  }
  const cells = rows.map(row => columns.map(column => cell(row[column])))
  const widths = columns.map((column, index) => Math.max(column.length, ...cells.map(line => line[index]?.length ?? 0)))
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  console.log(line(columns.map(column => column.toUpperCase())))
  for (const texts of cells) console.log(line(texts))
}

const cellCharactersMax = 60

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '-' : Array.isArray(value) ? value.join(',') : String(value)
  const flat = text.replace(/\s+/g, ' ')
  return flat.length > cellCharactersMax ? `${flat.slice(0, cellCharactersMax - 1)}…` : flat
}
