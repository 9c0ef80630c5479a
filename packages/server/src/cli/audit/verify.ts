import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { verifyChain } from '../../features/audit/verify-chain.ts'
import { verifyLogs, withSetAside } from '../../features/audit/verify-log.ts'
import { printJson } from '../output.ts'
import { CommandError, UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

interface Options {
  readonly head?: string
  readonly after?: string
  readonly key?: string
  readonly json?: boolean
}

type Verified = Awaited<ReturnType<typeof verifyChain>> & { readonly setAside: readonly string[] }

/** `halyard audit verify [file]`: a file needs neither a server nor a database. */
export async function verify(file: string | undefined, options: Options): Promise<void> {
  if (file === undefined) return verifyDatabase(options)
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`)
  const setAside: string[] = []
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  const verified = { ...(await verifyChain(withSetAside(lines, setAside), options)), setAside }
  if (options.json) printJson(wireOf(verified))
  else printVerified(verified)
  if (verified.faults.length > 0) throw new CommandError('The audit log is not intact.')
}

/** Every log of the database, as it is stored. */
async function verifyDatabase({ head, after, key, json }: Options): Promise<void> {
  if (head !== undefined || after !== undefined) throw new UsageError('--head and --after need the file of an export.')
  const isIntact = await withDatabase(database =>
    database.read(async tx => {
      const results: object[] = []
      let faults = 0
      for await (const { organizationId, ...verified } of verifyLogs(tx, key)) {
        faults += verified.faults.length
        if (json) results.push({ organization: organizationId, ...wireOf(verified) })
        else printVerified(verified, `${organizationId}: `)
      }
      if (json) printJson(results)
      return faults === 0
    }),
  )
  if (!isIntact) throw new CommandError('The audit log is not intact.')
}

const wireOf = ({ key, setAside, ...rest }: Verified) => ({ ...rest, key: key ?? null, set_aside: setAside })

function printVerified({ entries, start, head, key, faults, setAside }: Verified, prefix = ''): void {
  for (const text of setAside) console.log(prefix + text)
  for (const { sequence, message } of faults) console.log(`${prefix}Entry ${sequence}: ${message}`)
  if (faults.length > 0) return
  console.log(`${prefix}Verified ${entries} entries, ${start.sequence + 1} to ${head.sequence}. Head: ${head.hash}`)
  if (key) console.log(`${prefix}Earlier entries were removed. The checkpoint is signed with the key ${key}`)
}
