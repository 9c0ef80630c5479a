/** CSV as RFC 4180, safe to open in a spreadsheet: text that would be a formula is quoted as text. */
export const toCsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map(row => row.map(cellOf).join(',')).join('\r\n')

function cellOf(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Offers text as a file. */
export function downloadText(name: string, type: 'text/csv' | 'application/json', text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
