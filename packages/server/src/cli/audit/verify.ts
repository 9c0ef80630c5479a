import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { verifyChain } from '../../features/audit/verify-chain.ts'
import { printJson } from '../output.ts'
import { CommandError } from '../usage.ts'

/** `halyard audit verify <file>`: needs neither a server nor a database. */
export async function verify(
  file: string,
  options: { readonly head?: string; readonly after?: string; readonly key?: string; readonly json?: boolean },
): Promise<void> {
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`)
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  const { entries, start, head, key, faults } = await verifyChain(lines, options)
  if (options.json) printJson({ entries, start, head, key: key ?? null, faults })
  else {
    for (const { sequence, message } of faults) console.log(`Entry ${sequence}: ${message}`)
    if (faults.length === 0) {
      console.log(`Verified ${entries} entries, ${start.sequence + 1} to ${head.sequence}. Head: ${head.hash}`)
      if (key) console.log(`Earlier entries were removed. The checkpoint is signed with the key ${key}`)
    }
  }
  if (faults.length > 0) throw new CommandError('The audit log is not intact.')
}
