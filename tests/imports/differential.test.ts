import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findSdk, provenSources } from '../../packages/server/src/cli/prove/vendor-sdks.ts'
import { proveRandom } from './proof.ts'

/**
 * Compares with the services' own SDKs where `node scripts/prove-imports.mjs` has installed them; that script compares
 * more, with a new seed each time.
 */
const directory = process.env.HALYARD_IMPORT_SDKS ?? join(import.meta.dirname, '../../.cache/import-sdks')
const pairs = 5000
const seed = 20_261_116

for (const source of provenSources) {
  const sdk = findSdk(source, directory)
  it.runIf(sdk !== undefined)(`imported flags of ${source} have the values that its SDK gives`, async () => {
    const { differing, differences, equal } = await proveRandom(source, sdk!, seed, pairs)
    expect(differences.filter(({ status }) => status === 'exact')).toEqual([])
    expect(differing).toBe(0)
    expect(equal).toBeGreaterThan(0)
  })
}
