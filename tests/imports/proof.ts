import type { ImportOptions, ImportSource } from '@halyard/importers'
import { emptyTarget } from '../../packages/server/src/cli/prove/evaluate-imported.ts'
import { compareDocument, newTally, type Tally } from '../../packages/server/src/cli/prove/prove-import.ts'
import { Random } from '../../packages/server/src/cli/prove/random.ts'
import type { VendorSdk } from '../../packages/server/src/cli/prove/vendor-sdks.ts'
import { randomDocument } from './random-documents.ts'

const contextsPerDocument = 200

export const proofOptions: ImportOptions = { flagdVersion: '0.15.0' }

/** Random documents and contexts from a seed, until enough pairs have been compared. */
export async function proveRandom(source: ImportSource, sdk: VendorSdk, seed: number, pairs: number): Promise<Tally> {
  const random = new Random(seed)
  const tally = newTally()
  while (tally.pairs < pairs) {
    const document = randomDocument(source, random)
    const limits = { pairsMax: pairs - tally.pairs, contextsMax: contextsPerDocument }
    await compareDocument(
      { source, document, options: proofOptions, project: emptyTarget, sdk, random, ...limits },
      tally,
    )
  }
  return tally
}
