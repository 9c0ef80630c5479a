// `node scripts/replay-corpora.mjs --unleash DIRECTORY --growthbook cases.json --flagsmith DIRECTORY --flagd DIRECTORY
// --launchdarkly DIRECTORY`: replays the test data of other services, from copies that you have, through the importers.
import { parseArgs } from 'node:util'
import { ensureInstalled } from './prepare.mjs'
import { runBundled } from './run-bundled.mjs'

const sources = ['unleash', 'growthbook', 'flagsmith', 'flagd', 'launchdarkly']
const { values } = parseArgs({
  options: Object.fromEntries(sources.map(name => [name, { type: 'string', default: '' }])),
})

await ensureInstalled('test')
await runBundled(
  'tests/imports/replay.ts',
  sources.map(name => values[name]),
)
