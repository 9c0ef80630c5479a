import { existsSync, readFileSync } from 'node:fs'
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
  /** `<file>`, or `<environment>=<file>`. */
  readonly file?: readonly string[]
  /** Where the service responds with its definitions. */
  readonly url?: string
  /** The environment variable with the service's API token. */
  readonly tokenEnv?: string
  /** `<environment of the file>`, or `<environment of the file>=<where to>`. */
  readonly environment?: readonly string[]
  readonly project: string
  readonly environmentSet?: number
  readonly newEnvironmentSet?: string
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
  const files = await readSource(source, options)
  const certificate = options.prove ? await prove(source, files, options) : undefined
  const isDisproved = certificate !== undefined && certificate.differing > 0
  const isDryRun = options.dryRun === true
  await withApi(remote(options), async api => {
    const { id: project, organization } = await api('GET', `/api/projects/${encodeURIComponent(options.project)}/`)
    const imports = `/api/organizations/${organization}/imports/`
    const body = {
      source,
      ...mappingOf(options, files, project),
      ...(options.environmentSet !== undefined && { environment_set: options.environmentSet }),
      ...(options.newEnvironmentSet !== undefined && { new_environment_set: options.newEnvironmentSet }),
      ...(options.clientLanguage !== undefined && { client_language: options.clientLanguage }),
      ...(options.flagdVersion !== undefined && { flagd_version: options.flagdVersion }),
      ...(options.includeArchived && { include_archived: true }),
    }
    const plan: ImportPlan = await api('POST', imports, body, progress)
    const path = `${imports}${plan.id}/`
    const choice = { only: options.onlyExact ? 'exact' : 'all', overwrite: options.overwrite === true }
    if (certificate && !isDryRun) {
      await api('POST', `/api/projects/${project}/import_certificates/`, { import: plan.id, certificate })
    }
    const isApplied = !isDryRun && !isDisproved
    const done = isApplied ? ((await api('POST', `${path}apply/`, choice, progress)) as ImportPlan) : plan
    const items = await readItems(api, path)
    if (isDryRun) await api('DELETE', path)
    if (options.json) printJson({ ...done, dry_run: isDryRun, ...(certificate && { certificate }), items })
    else describe(done, items, !isApplied)
  })
  if (isDisproved) throw new CommandError('Flags that should be exact have other values; nothing was imported.')
}

/** Compares with the service's SDK, prints what that has shown and writes the certificate. */
async function prove(
  source: ImportSource,
  [file, ...others]: readonly SourceFile[],
  options: ImportFromOptions,
): Promise<ImportCertificate> {
  const { environment: [given, ...further] = [], environmentSet, newEnvironmentSet } = options
  const isSet = environmentSet !== undefined || newEnvironmentSet !== undefined
  if (isSet || others.length + further.length > 0) {
    throw new UsageError('--prove compares one environment: use one --environment and no environment set.')
  }
  const certificate = await proveFile(source, file!.text, {
    sdkFrom: options.sdkFrom ?? '.',
    pairs: options.pairs ?? 200_000,
    ...(options.seed !== undefined && { seed: options.seed }),
    importOptions: {
      environment: given === undefined ? undefined : splitMapping(given).from,
      clientLanguage: options.clientLanguage as ImportOptions['clientLanguage'],
      flagdVersion: options.flagdVersion,
      includeArchived: options.includeArchived,
    },
  })
  if (options.certificate !== undefined) writeCertificate(options.certificate, certificate)
  if (!options.json) describeCertificate(certificate)
  return certificate
}

interface SourceFile {
  /** The environment that was named before the file. */
  readonly name: string | undefined
  readonly text: string
}

/** What goes where: `content` and `mapping` of the request. */
function mappingOf(
  { environment: given = [], environmentSet, newEnvironmentSet }: ImportFromOptions,
  files: readonly SourceFile[],
  project: number,
): object {
  const isSet = environmentSet !== undefined || newEnvironmentSet !== undefined
  const [first] = files
  if (files.length > 1 || first?.name !== undefined) {
    if (!isSet) throw new UsageError('--file <environment>=<file> needs --environment-set or --new-environment-set.')
    return { mapping: files.map(({ name, text }) => ({ name: name ?? '', content: text })) }
  }
  const environments = given.map(splitMapping)
  const content = first?.text
  if (isSet) {
    const mapping = environments.map(({ from, to }) => ({ environment: from, name: to ?? from }))
    return { content, ...(mapping.length > 0 && { mapping }) }
  }
  if (environments.length === 0) return { content, mapping: [{ project, environment: null }] }
  const mapping = environments.map(({ from, to }) => ({
    environment: from,
    project: to === undefined ? project : Number(to),
  }))
  if (mapping.some(entry => !Number.isInteger(entry.project))) {
    throw new UsageError('--environment <name>=<environment> needs --environment-set or --new-environment-set.')
  }
  return { content, mapping }
}

/** `production=live` */
function splitMapping(given: string): { readonly from: string; readonly to: string | undefined } {
  const [from = '', ...rest] = given.split('=')
  return { from, to: rest.length === 0 ? undefined : rest.join('=') }
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
  const placeOf = (target: number): string => {
    const { name, environment } = targets[target] ?? {}
    return targets.length > 1 ? ` in ${name ?? environment ?? ''}` : ''
  }
  for (const { status, drift, kind, source_key, reasons, target } of items) {
    if (status === 'exact' && drift !== 'changed_here' && drift !== 'changed_both' && drift !== 'exists_here') continue
    console.log(`${status}  ${kind} ${source_key}${placeOf(target)}${drift === 'new' ? '' : `  (${drift})`}`)
    for (const { message, path } of reasons) console.log(`  ${message} (${path})`)
  }
  for (const target of targets) {
    const { project, name, environment, exact, approximate, refused } = target
    const from = environment === null ? '' : ` from ${environment}`
    const into = project === null ? `New project for ${name}` : `Project ${project}`
    console.log(`${into}${from}: ${exact} exact, ${approximate} approximate, ${refused} refused.`)
    const { created, updated, unchanged, skipped } = target
    if (!isDryRun)
      console.log(`${created} created, ${updated} updated, ${unchanged} unchanged, ${skipped} left as they are.`)
  }
  if (isDryRun) console.log('Nothing was imported.')
}

/** Bodies are limited by the server as well. */
const bytesMax = 64 * 1024 * 1024
const secondsMax = 60

async function readSource(source: string, { file, url, tokenEnv }: ImportFromOptions): Promise<SourceFile[]> {
  if ((file === undefined) === (url === undefined)) throw new UsageError('Use either --file or --url.')
  if (file !== undefined) return file.map(readNamedFile)
  const token = tokenEnv === undefined ? undefined : process.env[tokenEnv]
  if (tokenEnv !== undefined && !token)
    throw new UsageError(`The environment variable ${tokenEnv} (--token-env) is empty.`)
  const headers = token === undefined ? {} : { authorization: authorization(source, token) }
  return [{ name: undefined, text: await download(url!, headers) }]
}

/** A file whose own name has an equals sign is read by that name. */
function readNamedFile(given: string): SourceFile {
  const [, name, path] = existsSync(given) ? [] : (/^([^=]+)=(.+)$/.exec(given) ?? [])
  return { name, text: readFile(path ?? given) }
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
