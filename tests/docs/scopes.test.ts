import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scopeObjects } from '@halyard/contract'
import { expect, it } from 'vitest'

it('the API tutorial lists every object that a scope can name', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guide/api-tutorial.md'), 'utf8')
  const table = page.slice(page.indexOf('## Keys and scopes'), page.indexOf('## Errors'))
  const cells = [...table.matchAll(/^\| (`.+?) \|/gm)].map(([, cell]) => cell!)
  const listed = cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  expect(listed.sort()).toEqual([...scopeObjects])
})
