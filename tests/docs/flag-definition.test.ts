import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bucketingAlgorithmNames, compile, operators, strictOperators } from '@halyard/engine'
import { describe, expect, it } from 'vitest'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'

/** The examples in docs/reference/flag-definition.md are evaluated, so that the page cannot drift from the engine. */

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/flag-definition.md'), 'utf8')
const now = Date.parse('2026-07-01T00:00:00Z')

interface Example {
  readonly operator: string
  readonly filter: { readonly key: string; readonly operator: string; readonly value: unknown }
  readonly rows: readonly { readonly property: unknown; readonly isMissing: boolean; readonly matches: boolean }[]
}

/** A filter is followed by a table: a row for each property, a column for each operator that the filter can have. */
const examples: Example[] = page
  .split(/^### /m)
  .slice(1)
  .flatMap(section =>
    section
      .split(/^```json$/m)
      .slice(1)
      .flatMap(part => {
        const [json = '', text = ''] = part.split(/^```$/m)
        const [, header] = /^\| property \| (.+) \|$/m.exec(text) ?? []
        if (!header) return []
        const cells = [...text.matchAll(/^\| (`.+?`|missing) \| ((?:yes|no)(?: \| (?:yes|no))*) \|$/gm)]
        return header.split(' | ').map((name, column) => {
          const operator = name.slice(1, -1)
          const rows = cells.map(([, cell, answers]) => ({
            isMissing: cell === 'missing',
            property: cell === 'missing' ? undefined : JSON.parse(cell!.slice(1, -1)),
            matches: answers!.split(' | ')[column] === 'yes',
          }))
          return { operator, filter: { ...JSON.parse(json), operator }, rows }
        })
      }),
  )

describe('the flag definition page', () => {
  it('documents every operator with examples of both results', () => {
    const documented = new Set(examples.map(({ operator }) => operator))
    expect([...documented]).toEqual([...operators, ...strictOperators])
    for (const operator of documented) {
      const rows = examples.filter(example => example.operator === operator).flatMap(example => example.rows)
      expect(new Set(rows.map(({ matches }) => matches)).size, operator).toBe(2)
    }
  })

  it('lists every bucketing algorithm', () => {
    const [, section] = page.split('### Bucketing of other services')
    const listed = [...section!.matchAll(/^\| `([a-z]\w*)` \| .+ \| .+ \| .+ \| .+ \|$/gm)].map(([, name]) => name)
    expect(listed).toEqual(bucketingAlgorithmNames)
  })

  it.each(examples)('$operator behaves as documented', ({ filter, rows }) => {
    const snapshot = compile(
      {
        flags: [{ id: 1, key: 'flag', active: true, filters: { groups: [{ properties: [filter] }] } }],
        cohorts: [],
        groupTypes: {},
        propertyMatchingVersion: 2,
      },
      { regex: linearRegex },
    )
    for (const { property, isMissing, matches } of rows) {
      const personProperties = isMissing ? {} : { [filter.key]: property }
      const results = snapshot.evaluate({ distinctId: 'user-1', personProperties }, { now })
      expect(results.get('flag')?.enabled, JSON.stringify(property)).toBe(matches)
    }
  })
})
