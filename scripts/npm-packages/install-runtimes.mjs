// Installs other JavaScript runtimes into `.cache/runtimes`, where tests/packages.test.ts finds them. They are not in the lock file,
// because not all of them exist for every platform.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, say } from '../prepare.mjs'

const folder = join(root, '.cache/runtimes')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
const runtimes = [
  'bun@1.4.4',
  'deno@2.9.6',
  'workerd@1.20261104.1',
  'node-22@npm:node@22.23.3',
  'node-24@npm:node@24.21.0',
]
for (const runtime of process.argv.length > 2 ? process.argv.slice(2) : runtimes) {
  say(`Installing ${runtime} …`)
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', runtime], { cwd: folder })
}
