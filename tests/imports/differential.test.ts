import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { provenSources } from '@halyard/migrate/prove/vendor-sdks'
import { expect, it } from 'vitest'
import { findSdk } from '../../packages/server/src/cli/prove/find-sdk.ts'
import { proveRandom } from './proof.ts'

/**
 * Compares with the services' own SDKs where `node scripts/prove-imports.mjs` has installed them. Each run has a new seed, which the title
 * names; HALYARD_IMPORT_SEED repeats one.
 */
const directory = process.env.HALYARD_IMPORT_SDKS ?? join(import.meta.dirname, '../../.cache/import-sdks')
const pairs = 5000
const seed = Number(process.env.HALYARD_IMPORT_SEED ?? randomInt(2 ** 31))

for (const source of provenSources) {
  const sdk = findSdk(source, directory)
  it.runIf(sdk !== undefined)(`imported flags of ${source} have the values of its SDK, seed ${seed}`, async () => {
    const { differing, differences, equal } = await proveRandom(source, sdk!, seed, pairs)
    expect(differences.filter(({ status }) => status === 'exact')).toEqual([])
    expect(differing).toBe(0)
    expect(equal).toBeGreaterThan(0)
  })
}
