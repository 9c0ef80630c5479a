import type { ImportSource } from '@halyard/importers'
import { prove } from './proof.ts'
import { findSdk, packageOf, provenSources } from './vendor-sdks.ts'

/** Compares every service with its SDK and prints a certificate for each; see scripts/prove-imports.mjs. */
const [directory, pairs, seed, only] = process.argv.slice(2)
let failed = false
for (const source of provenSources) {
  if (only !== undefined && only !== '' && only !== source) continue
  const sdk = findSdk(source as ImportSource, directory!)
  if (sdk === undefined) {
    console.error(`${source}: ${packageOf(source)} is not installed in ${directory}.`)
    failed = true
    continue
  }
  const certificate = await prove(source, sdk, Number(seed), Number(pairs))
  console.log(JSON.stringify(certificate, null, 1))
  failed ||= certificate.differing > 0
}
process.exitCode = failed ? 1 : 0
