import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertersBySource, type ImportSource } from '@halyard/migrate'
import { compileImported, evaluateImported, normalized } from '@halyard/migrate/prove/evaluate-imported'
import { expect, it } from 'vitest'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'
import { proofOptions } from './proof.ts'

/** The examples of docs/migrate are converted and evaluated, so that the pages cannot drift from the importers. */

const folder = join(import.meta.dirname, '../../docs/migrate')
const guides = readdirSync(folder)
  .map(name => ({ source: name.replace('.md', '') as ImportSource, text: readFileSync(join(folder, name), 'utf8') }))
  .filter(({ text }) => text.includes('After the import, these people get:'))

it.each(guides)('the guide for $source shows what the import gives', ({ source, text }) => {
  const document: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)![1]!)
  const project = convertersBySource[source]!(document, proofOptions)
  const statuses = [...text.matchAll(/^\| `([^`]+)` \| (exact|approximate|refused) \|$/gm)].map(([, key, status]) => ({
    sourceKey: key,
    status,
  }))
  expect(project.items.map(({ sourceKey, status }) => ({ sourceKey, status }))).toEqual(statuses)
  const snapshot = compileImported(project, linearRegex)
  const rows = [...text.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$/gm)]
  expect(rows.length).toBeGreaterThan(0)
  for (const [, flag, id, properties, value] of rows) {
    const person = { id: id!, attributes: JSON.parse(properties!) }
    const found = evaluateImported(project, snapshot, person, Date.now()).get(flag!)
    expect(found, `${flag} for ${id}`).toEqual(normalized(JSON.parse(value!)))
  }
})
