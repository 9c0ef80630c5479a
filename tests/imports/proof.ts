import { certificateDifferencesMax } from '@halyard/contract'
import type { ImportOptions, ImportSource } from '@halyard/migrate'
import { compareDocument, newTally, type Tally } from '@halyard/migrate/prove/compare-document'
import { emptyTarget } from '@halyard/migrate/prove/evaluate-imported'
import { Random } from '@halyard/migrate/prove/random'
import type { VendorSdk } from '@halyard/migrate/prove/vendor-sdks'
import { targetRules } from '../../packages/server/src/features/imports/convert-file.ts'
import { randomDocument } from './random-documents.ts'

const contextsPerDocument = 200

export const proofOptions: ImportOptions = { flagdVersion: '0.15.0' }

/** Random documents and contexts from a seed, until enough pairs have been compared. */
export async function proveRandom(source: ImportSource, sdk: VendorSdk, seed: number, pairs: number): Promise<Tally> {
  const random = new Random(seed)
  const tally = newTally()
  while (tally.pairs < pairs) {
    const document = randomDocument(source, random)
    const limits = {
      pairsMax: pairs - tally.pairs,
      contextsMax: contextsPerDocument,
      differencesMax: certificateDifferencesMax,
    }
    const conversion = { source, document, options: proofOptions, project: emptyTarget }
    await compareDocument({ ...conversion, rules: targetRules, sdk, random, ...limits }, tally)
  }
  return tally
}
