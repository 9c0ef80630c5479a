// `npm run screenshots`: takes the screenshots of the README and the guide again, from browser tests.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './prepare.mjs'

await ensureInstalled('test')
ensureBuilt()
const folder = join(root, 'docs', 'images')
mkdirSync(folder, { recursive: true })
run(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', 'tests/web/demo.test.ts', 'tests/web/change-control.test.ts'],
  {
    env: { ...process.env, README_PICTURES: folder },
  },
)
