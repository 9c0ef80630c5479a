// `node scripts/openfeature-suites.mjs DIRECTORY`: runs the gherkin suites of OpenFeature's specification, from a copy that you have,
// through the providers, and prints what passed and what does not apply.
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { ensureInstalled, root } from './prepare.mjs'

const [directory] = process.argv.slice(2)
if (directory === undefined) {
  console.error('Usage: node scripts/openfeature-suites.mjs DIRECTORY')
  process.exit(2)
}

await ensureInstalled('test')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', 'tests/clients/openfeature-suites.test.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, HALYARD_TEST_OPENFEATURE_SPEC: resolve(directory) },
})
process.exit(status ?? 1)
