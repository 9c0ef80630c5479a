import { readFileSync } from 'node:fs'
import type { ImportCertificate, ImportItem, ImportPlan } from '@halyard/contract'
import type { ImportOptions, ImportSource } from '@halyard/importers'
import { readConfig } from '../../config.ts'
import { createGuardedClient } from '../../outgoing/guarded-client.ts'
import { OutgoingFailure } from '../../outgoing/outgoing.ts'
import { printJson, progress } from '../output.ts'
import { describeCertificate, proveFile, writeCertificate } from '../prove/prove-file.ts'
import { CommandError, UsageError } from '../usage.ts'
import { type Api, type RemoteOptions, withApi } from './api.ts'

export interface ImportFromOptions {
  readonly file?: string
  /** Where the service responds with its definitions. */
  readonly url?: string
  /** The environment variable with the service's API token. */
  readonly tokenEnv?: string
  readonly environment?: string
  readonly project: string
  readonly environmentSet?: number
  readonly clientLanguage?: string
  readonly flagdVersion?: string
  readonly includeArchived?: boolean
  readonly onlyExact?: boolean
  readonly overwrite?: boolean
  readonly dryRun?: boolean
  readonly prove?: boolean
  readonly pairs?: number
  readonly seed?: number
  readonly sdkFrom?: string
  readonly certificate?: string
  readonly json?: boolean
  readonly server?: string
  readonly key?: string
  readonly emergency?: string
}

const remote = ({ server, key, emergency }: ImportFromOptions): RemoteOptions => ({
  ...(server !== undefined && { url: server }),
  ...(key !== undefined && { key }),
  ...(emergency !== undefined && { emergency }),
})

/** `halyard import-from <source>`: plans the import and applies it, unless it is a dry run or a proof fails. */
export async function importFrom(source: ImportSource, options: ImportFromOptions): Promise<void> {
  const content = await readSource(source, options)
  const certificate = options.prove ? await prove(source, content, options) : undefined
  const isDisproved = certificate !== undefined && certificate.differing > 0
  const isDryRun = options.dryRun === true
  await withApi(remote(options), async api => {
    const { id: project, organization } = await api('GET', `/api/projects/${encodeURIComponent(options.project)}/`)
    const imports = `/api/organizations/${organization}/imports/`
    const target = { project, environment: options.environment ?? null }
    const plan: ImportPlan = await api('POST', imports, {
      source,
      content,
      ...(options.environmentSet === undefined ? { mapping: [target] } : { environment_set: options.environmentSet }),
      ...(options.clientLanguage !== undefined && { client_language: options.clientLanguage }),
      ...(options.flagdVersion !== undefined && { flagd_version: options.flagdVersion }),
      ...(options.includeArchived && { include_archived: true }),
    })
    const path = `${imports}${plan.id}/`
    const body = { only: options.onlyExact ? 'exact' : 'all', overwrite: options.overwrite === true }
    if (certificate && !isDryRun) {
      await api('POST', `/api/projects/${project}/import_certificates/`, { import: plan.id, certificate })
    }
    const isApplied = !isDryRun && !isDisproved
    const done = isApplied ? ((await api('POST', `${path}apply/`, body, progress)) as ImportPlan) : plan
    const items = await readItems(api, path)
    if (isDryRun) await api('DELETE', path)
    if (options.json) printJson({ ...done, dry_run: isDryRun, ...(certificate && { certificate }), items })
    else describe(done, items, !isApplied)
  })
  if (isDisproved) throw new CommandError('Flags that should be exact have other values; nothing was imported.')
}

/** Compares with the service's SDK, prints what that has shown and writes the certificate. */
async function prove(source: ImportSource, content: string, options: ImportFromOptions): Promise<ImportCertificate> {
  if (options.environmentSet !== undefined) {
    throw new UsageError('--prove compares one environment: use --environment instead of --environment-set.')
  }
  const certificate = await proveFile(source, content, {
    sdkFrom: options.sdkFrom ?? '.',
    pairs: options.pairs ?? 200_000,
    ...(options.seed !== undefined && { seed: options.seed }),
    importOptions: {
      environment: options.environment,
      clientLanguage: options.clientLanguage as ImportOptions['clientLanguage'],
      flagdVersion: options.flagdVersion,
      includeArchived: options.includeArchived,
    },
  })
  if (options.certificate !== undefined) writeCertificate(options.certificate, certificate)
  if (!options.json) describeCertificate(certificate)
  return certificate
}

async function readItems(api: Api, path: string): Promise<ImportItem[]> {
  const items: ImportItem[] = []
  for (;;) {
    const { results, count } = await api('GET', `${path}items/?limit=1000&offset=${items.length}`)
    items.push(...results)
    if (items.length >= count || results.length === 0) return items
  }
}

/** What is exact needs no line of its own. */
function describe({ targets }: ImportPlan, items: readonly ImportItem[], isDryRun: boolean): void {
  for (const { status, drift, kind, source_key, reasons } of items) {
    if (status === 'exact' && drift !== 'changed_here' && drift !== 'changed_both' && drift !== 'exists_here') continue
    console.log(`${status}  ${kind} ${source_key}${drift === 'new' ? '' : `  (${drift})`}`)
    for (const { message, path } of reasons) console.log(`  ${message} (${path})`)
  }
  for (const target of targets) {
    const { project, environment, exact, approximate, refused } = target
    const from = environment === null ? '' : ` from ${environment}`
    console.log(`Project ${project}${from}: ${exact} exact, ${approximate} approximate, ${refused} refused.`)
    const { created, updated, unchanged, skipped } = target
    if (!isDryRun)
      console.log(`${created} created, ${updated} updated, ${unchanged} unchanged, ${skipped} left as they are.`)
  }
  if (isDryRun) console.log('Nothing was imported.')
}

/** Bodies are limited by the server as well. */
const bytesMax = 64 * 1024 * 1024
const secondsMax = 60

/** The text of the file. */
async function readSource(source: string, { file, url, tokenEnv }: ImportFromOptions): Promise<string> {
  if ((file === undefined) === (url === undefined)) throw new UsageError('Use either --file or --url.')
  if (file !== undefined) return readFile(file)
  const token = tokenEnv === undefined ? undefined : process.env[tokenEnv]
  if (tokenEnv !== undefined && !token)
    throw new UsageError(`The environment variable ${tokenEnv} (--token-env) is empty.`)
  return download(url!, token === undefined ? {} : { authorization: authorization(source, token) })
}

function readFile(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** LaunchDarkly and Unleash take the token alone. */
const authorization = (source: string, token: string): string =>
  source === 'launchdarkly' || source === 'unleash' ? token : `Bearer ${token}`

/** By the same rules as requests of the server: private networks only for origins that the settings trust. */
async function download(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { trustedOrigins } = readConfig(process.env)
  const outgoing = createGuardedClient({ trustedOrigins })
  try {
    const limits = { timeoutMsMax: secondsMax * 1000, answerBytesMax: bytesMax }
    const { status, body } = await outgoing.request({
      url,
      headers: { accept: 'application/json', ...headers },
      ...limits,
    })
    if (status !== 200)
      throw new CommandError(`${new URL(url).origin} returned ${status}. Check --url and --token-env.`)
    return body.toString('utf8')
  } catch (error) {
    if (error instanceof OutgoingFailure) throw new CommandError(`${url}: ${error.message}`)
    throw error
  } finally {
    await outgoing.close()
  }
}

/** `halyard export-to <format>` */
export const exportTo = (
  format: string,
  options: Pick<ImportFromOptions, 'project' | 'server' | 'key' | 'json'>,
): Promise<void> =>
  withApi(remote(options), async api => {
    const project = encodeURIComponent(options.project)
    const { document, items } = await api('GET', `/api/projects/${project}/feature_flags/export/?format=${format}`)
    if (options.json) return printJson({ document, items })
    printJson(document)
    const noted = (items as { key: string; status: string; reasons: string[] }[]).filter(
      item => item.status !== 'exact',
    )
    for (const { key, status, reasons } of noted) progress(`${status}  ${key}: ${reasons.join(' ')}`)
  })
