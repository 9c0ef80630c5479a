// `node bench/engine-versions.mjs <commit> <commit> …` compares the engines of several commits: CPU time of `snapshot.evaluate`, alternated
// in one process, as a ratio to the first commit. Name a commit twice to see the error of the measurement. Needs the history of the repository.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from '../scripts/prepare.mjs'

const rounds = 101
/** In a shorter round, cold CPU caches would dominate the measurement. */
const roundMicrosecondsMin = 25_000
const now = Date.parse('2024-06-15T12:00:00Z')

const commits = process.argv.slice(2)
if (commits.length < 2) {
  console.error('Usage: node bench/engine-versions.mjs <commit> <commit> …')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'halyard-engines-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

async function load(entryPoint, name) {
  const outfile = join(folder, `${name}.mjs`)
  const conditions = ['halyard-source']
  await build({ entryPoints: [entryPoint], outfile, bundle: true, format: 'esm', conditions, tsconfigRaw: {} })
  return import(pathToFileURL(outfile).href)
}

async function engineOf(commit, index) {
  const archive = execFileSync('git', ['archive', commit, 'packages/engine'], { cwd: root, maxBuffer: 2 ** 28 })
  const source = mkdtempSync(join(folder, 'source-'))
  execFileSync('tar', ['-x', '-C', source], { input: archive })
  return load(join(source, 'packages/engine/src/index.ts'), `engine-${index}`)
}

const { mixedDefinitions, people } = await load(join(root, 'bench/mix.ts'), 'mix')
const engines = []
for (const [index, commit] of commits.entries()) engines.push(await engineOf(commit, index))

function cpuMicroseconds() {
  const { user, system } = process.cpuUsage()
  return user + system
}

let consumed = 0
/** One round of an engine: CPU time for each call, in microseconds. */
function measure(snapshot, flagCount, subjects) {
  const start = cpuMicroseconds()
  let calls = 0
  do {
    for (const subject of subjects) {
      const results = snapshot.evaluate(subject, { now })
      for (let flag = 0; flag < flagCount; flag++) consumed += results.outcome(flag).enabled ? 1 : 0
    }
    calls += subjects.length
  } while (cpuMicroseconds() - start < roundMicrosecondsMin)
  return (cpuMicroseconds() - start) / calls
}

const percentile = (values, rank) => [...values].sort((a, b) => a - b)[Math.round(rank * (values.length - 1))]
const regex = pattern => {
  const compiled = new RegExp(pattern)
  return { size: pattern.length, test: text => compiled.test(text) }
}

for (const flagCount of [10, 100, 1000]) {
  const definitions = mixedDefinitions(flagCount)
  const subjects = people(flagCount > 100 ? 40 : 200)
  const snapshots = engines.map(({ compile }) => compile(definitions, { regex }))
  for (const snapshot of snapshots) measure(snapshot, flagCount, subjects)
  const costs = Array.from({ length: rounds }, (_, round) => {
    const cost = []
    // Each round begins with another engine: what runs first finds caches that the last one filled.
    for (let step = 0; step < snapshots.length; step++) {
      const index = (round + step) % snapshots.length
      cost[index] = measure(snapshots[index], flagCount, subjects)
    }
    return cost
  })
  for (const [index, commit] of commits.entries()) {
    const ratios = costs.map(cost => cost[index] / cost[0])
    // Order statistics: an interval that holds the median in 95 % of all runs.
    const margin = 0.98 / Math.sqrt(rounds)
    const [low, p50, high] = [0.5 - margin, 0.5, 0.5 + margin].map(rank => percentile(ratios, rank).toFixed(3))
    const each = percentile(
      costs.map(cost => cost[index]),
      0.5,
    )
    console.log(`${flagCount} flags, ${commit}: ${each.toFixed(1)} µs, median ratio ${p50} (${low} to ${high})`)
  }
}
if (consumed === 0) throw new Error('No flag was enabled.')
