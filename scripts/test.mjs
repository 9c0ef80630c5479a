// `npm test`: installs, builds, checks and runs every test. Nothing has to be started first.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run, say } from './prepare.mjs'

await ensureInstalled('test')
ensureBuilt()

const bin = name => join(root, 'node_modules', '.bin', name)
const only = process.argv.slice(2)
if (only.length === 0) {
  say('Checking types …')
  // By path: the generated clients are checked with another version, which has the same command.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  for (const project of ['.', 'packages/engine', 'packages/web']) run(process.execPath, [compiler, '-p', project])
  say('Checking style …')
  run(bin('biome'), ['check', '--error-on-warnings', '.'])
}

const folder = mkdtempSync(join(tmpdir(), 'halyard-test-'))
const report = join(folder, 'report.json')
const { status } = spawnSync(
  bin('vitest'),
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...only],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TZ: 'UTC' } },
)
const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'))
rmSync(folder, { recursive: true })
console.log(`${numPassedTests} passed, ${numFailedTests} failed`)
process.exit(status === 0 && success ? 0 : status || 1)
