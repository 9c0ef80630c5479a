// `npm test` installs, builds, checks types and style, and runs the tests that end within ten minutes on two cores. `npm run test:all` runs the others.
// Nothing has to be started first.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, say } from './prepare.mjs'

await ensureInstalled('test')
ensureBuilt()

const bin = name => join(root, 'node_modules', '.bin', name)
const isLong = process.argv[2] === '--long'
/** Files or folders; without any, whole projects of vitest.config.ts. */
const only = process.argv.slice(isLong ? 3 : 2)
const selected =
  only.length > 0 ? only : (isLong ? ['long'] : ['packages', 'black-box']).map(name => `--project=${name}`)
// Types and style are checked while the tests run, which spend much of their time waiting.
const checking = only.length === 0 && !isLong ? checkTypesAndStyle() : Promise.resolve(true)

const folder = mkdtempSync(join(tmpdir(), 'halyard-test-'))
const report = join(folder, 'report.json')
const { status } = await run(
  bin('vitest'),
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...selected],
  { stdio: 'inherit', env: { ...process.env, TZ: 'UTC' } },
)
const areChecksGreen = await checking
const { numPassedTests, numFailedTests, success } = readReport()
rmSync(folder, { recursive: true })
console.log(
  numPassedTests + numFailedTests > 0
    ? `${numPassedTests} passed, ${numFailedTests} failed`
    : 'No test ran; the reason is above.',
)
process.exit(status === 0 && success && areChecksGreen ? 0 : status || 1)

/** Vitest writes none when it ends before the first test. */
function readReport() {
  if (!existsSync(report)) return { numPassedTests: 0, numFailedTests: 0, success: false }
  return JSON.parse(readFileSync(report, 'utf8'))
}

/** One after another: each uses several cores. Prints what a check finds as soon as it has ended. */
async function checkTypesAndStyle() {
  // By path: the generated clients are checked with another version, which has the same command.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const checks = [
    // Each checker infers the types of the contract again: the four of the default need up to three times the CPU time.
    ...['.', 'packages/engine', 'packages/web'].map(project => [
      process.execPath,
      compiler,
      ...['--checkers', '1', '-p', project],
    ]),
    [bin('biome'), 'check', '--error-on-warnings', '.'],
  ]
  let areGreen = true
  for (const [command, ...args] of checks) {
    const { status, output } = await run(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    if (status === 0) continue
    areGreen = false
    say(`${output}\n${[command, ...args].join(' ')} failed.`)
  }
  if (areGreen) say('Types and style are checked.')
  return areGreen
}

/** Resolves when the command has ended, with its exit code and, when it is piped, its output. */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', status => resolve({ status, output }))
  })
}
