import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, type RemoteOptions, readAll, withApi } from '../remote/api.ts'
import { CommandError, UsageError } from '../usage.ts'
import { generateTypes, type TypedFlag } from './generate-types.ts'
import type { Target } from './targets.ts'

interface TypesOptions extends RemoteOptions {
  readonly project: string
  readonly out?: string
  readonly check?: boolean
  readonly watch?: boolean
  readonly for: readonly Target[]
}

const watchMilliseconds = 2000

/** `halyard types` */
export const types = (options: TypesOptions): Promise<void> =>
  withApi(options, async api => {
    const { out, check, watch } = options
    if ((check || watch) && out === undefined) throw new UsageError('--check and --watch need --out.')
    if (check && watch) throw new UsageError('Use either --check or --watch.')
    const text = await typesOf(api, options)
    if (out === undefined) {
      process.stdout.write(text)
      return
    }
    if (check) {
      if (readOr(out) !== text) throw new CommandError(`${out} is out of date. Run "halyard types --out ${out}".`)
      console.error(`${out} is up to date.`)
      return
    }
    write(out, text)
    if (watch) await follow(api, out, options)
  })

/** Until the process is stopped. A server that is unavailable for a while is asked again. */
async function follow(api: Api, out: string, options: TypesOptions): Promise<never> {
  console.error('Watching for changes. Press Ctrl-C to stop.')
  for (;;) {
    await sleep(watchMilliseconds)
    try {
      write(out, await typesOf(api, options))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      console.error(error.message)
    }
  }
}

function write(out: string, text: string): void {
  if (readOr(out) === text) return
  try {
    writeFileSync(out, text)
  } catch (error) {
    throw new CommandError(`${out} cannot be written: ${(error as Error).message}.`)
  }
  console.error(`Wrote ${out}.`)
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

async function typesOf(api: Api, { project, for: targets }: TypesOptions): Promise<string> {
  const base = `/api/projects/${encodeURIComponent(project)}`
  const [flags, schemas, stale] = [
    await readAll<TypedFlag>(api, `${base}/feature_flags/?`),
    await readAll<{ flag_key: string; schema: Record<string, unknown> }>(api, `${base}/payload_schemas/?`),
    await readAll<{ key: string }>(api, `${base}/flag_health/?check=stale&`),
  ]
  return generateTypes({
    flags,
    schemas: new Map(schemas.map(({ flag_key, schema }) => [flag_key, schema])),
    stale: new Set(stale.map(({ key }) => key)),
    targets,
  })
}
