// `npm run test:related [-- <commit>]`: the inner loop. Runs the tests that import a file that differs from the commit (default: the last one), the
// tests beside such a file, and always those of approvals and access. The built server is no module of a test, so imports alone would miss most.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureInstalled, root } from './prepare.mjs'

await ensureInstalled('test')
const lines = (command, ...args) =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter(line => line !== '')

const commit = process.argv[2] ?? 'HEAD'
const changed = [
  ...lines('git', 'diff', '--name-only', commit),
  ...lines('git', 'ls-files', '--others', '--exclude-standard'),
]
/** A feature of the server is tested as a whole. */
const folderOf = file => /^packages\/server\/src\/features\/[^/]+\//.exec(file)?.[0] ?? `${dirname(file)}/`
const beside = changed.filter(file => /^(packages\/[^/]+\/src|tests)\//.test(file)).map(folderOf)
const always = ['change-control', 'access', 'identity'].map(name => `packages/server/src/features/${name}/`)
for (const folder of always)
  if (!existsSync(join(root, folder))) throw new Error(`${folder} was moved: name its place.`)

const vitest = join(root, 'node_modules', '.bin', 'vitest')
const importing = lines(vitest, 'list', '--filesOnly', '--changed', commit, '--project=packages', '--project=black-box')
process.argv.splice(
  2,
  1,
  ...new Set([...importing.map(line => line.replace(/^\[[^\]]*\] /, '')), ...beside, ...always]),
)
await import('./test.mjs')
