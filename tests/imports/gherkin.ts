/** The scenarios of flagd's testbed, in which a flag is evaluated for a context. */
export interface GherkinCase {
  readonly name: string
  readonly flag: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly fallback: unknown
  readonly expected: unknown
  readonly unsuitable?: string
}

type Row = Readonly<Record<string, string>>

export function* gherkinCases(text: string): Generator<GherkinCase> {
  for (const scenario of text.split(/^\s*Scenario(?: Outline)?:/m).slice(1)) {
    const lines = scenario.split('\n').map(line => line.trim())
    const [name = ''] = lines
    const steps = lines.filter(line => /^(Given|And|When|Then) /.test(line))
    for (const row of rowsOf(lines))
      yield caseOf(
        name,
        steps.map(step => filled(step, row)),
      )
  }
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())

/** Without examples there is one row without values. A scenario may have several tables. */
function rowsOf(lines: readonly string[]): Row[] {
  const tables = lines
    .join('\n')
    .split(/^Examples.*$/m)
    .slice(1)
  if (tables.length === 0) return [{}]
  return tables.flatMap(table => {
    const [head, ...rows] = table
      .split('\n')
      .filter(line => line.startsWith('|'))
      .map(cellsOf)
    return rows.map(cells => Object.fromEntries(head!.map((key, index) => [key, cells[index] ?? ''])))
  })
}

const filled = (step: string, row: Row): string => step.replace(/<(\w+)>/g, (all, key: string) => row[key] ?? all)

function typed(type: string, text: string): unknown {
  if (type === 'Boolean') return text === 'true'
  if (type === 'Integer' || type === 'Float') return Number(text)
  return type === 'Object' ? JSON.parse(text.replaceAll('\\"', '"')) : text
}

function caseOf(name: string, steps: readonly string[]): GherkinCase {
  const attributes: Record<string, unknown> = {}
  let found = { flag: '', type: 'String', fallback: undefined as unknown }
  let id = ''
  let expected: unknown
  let unsuitable: string | undefined = 'The scenario does not test a value.'
  for (const step of steps) {
    const flag = /a (\w+)-flag with key "(.*)" and a fallback value "(.*)"/.exec(step)
    if (flag) found = { flag: flag[2]!, type: flag[1]!, fallback: typed(flag[1]!, flag[3]!) }
    const key = /a targeting key with value "(.*)"/.exec(step)
    if (key) id = key[1]!
    const property = /a key "(.*)", with type "(.*)" and with value "(.*)"/.exec(step)
    if (property) attributes[property[1]!] = typed(property[2]!, property[3]!)
    const nested = /outer key "(.*)" and inner key "(.*)", with value "(.*)"/.exec(step)
    if (nested) attributes[nested[1]!] = { [nested[2]!]: nested[3] }
    const value = /the resolved details value should be "(.*)"/.exec(step)
    if (value) {
      expected = typed(found.type, value[1]!)
      unsuitable = undefined
    }
  }
  const { flag, fallback } = found
  return { name, flag, id, attributes, fallback, expected, ...(unsuitable !== undefined && { unsuitable }) }
}
