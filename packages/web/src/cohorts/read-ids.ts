/** The first column of a CSV file without its header. */
export function readIds(text: string): string[] {
  const cells = text.split(/\r?\n/).map(line => (line.split(/[,;\t]/, 1)[0] ?? '').trim().replace(/^"(.*)"$/, '$1'))
  const ids = cells.filter(cell => cell !== '')
  return /^(distinct_?id|id|user_?id|email)s?$/i.test(ids[0] ?? '') ? ids.slice(1) : ids
}
