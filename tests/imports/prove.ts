import { packageOf, provenSources } from '@halyard/migrate/prove/vendor-sdks'
import { findSdk } from '../../packages/server/src/cli/prove/find-sdk.ts'
import { version } from '../../packages/server/src/version.ts'
import { proveRandom } from './proof.ts'

/** Compares random flags of every service with its SDK and prints what that has shown; see scripts/prove-imports.mjs. */
const [directory, pairs, seed, only] = process.argv.slice(2)
let failed = false
for (const source of provenSources) {
  if (only !== undefined && only !== '' && only !== source) continue
  const sdk = findSdk(source, directory!)
  if (sdk === undefined) {
    console.error(`${source}: ${packageOf(source)} is not installed in ${directory}.`)
    failed = true
    continue
  }
  const { flags, ...tally } = await proveRandom(source, sdk, Number(seed), Number(pairs))
  const statuses = { exact: 0, approximate: 0, refused: 0 }
  const refusals: Record<string, number> = {}
  for (const { item } of flags) {
    statuses[item.status]++
    const reason = item.reasons.at(-1)?.message ?? ''
    if (item.status === 'refused') refusals[reason] = (refusals[reason] ?? 0) + 1
  }
  const versions = { sdk: sdk.packageName, sdkVersion: sdk.version, halyardVersion: version, seed: Number(seed) }
  console.log(JSON.stringify({ source, ...versions, ...tally, flags: statuses, refusals }, null, 1))
  failed ||= tally.differing > 0
}
process.exitCode = failed ? 1 : 0
