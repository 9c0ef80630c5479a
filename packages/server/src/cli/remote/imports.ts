import type { ImportCertificate, ImportItem, ImportPlan } from '@halyard/contract'
import {
  flagCounts,
  type ImportOptions,
  type ImportSource,
  importStatuses,
  type TargetProject,
} from '@halyard/migrate/model'
import { certificateLines } from '@halyard/migrate/prove/certificate'
import { version } from '../../version.ts'
import { printJson, progress } from '../output.ts'
import { proveFile, writeCertificate } from '../prove/prove-file.ts'
import { CommandError, UsageError } from '../usage.ts'
import { type Api, type RemoteOptions, withApi } from './api.ts'
import { readSource, type SourceFile, type SourceOptions } from './read-source.ts'

export interface ImportFromOptions extends SourceOptions {
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
  if (options.prove) requireOneEnvironment(options)
  const files = await readSource(source, options)
  const isDryRun = options.dryRun === true
  await withApi(remote(options), async api => {
    const target = await api('GET', `/api/projects/${encodeURIComponent(options.project)}/`)
    const { id: project, organization } = target
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
    const certificate = options.prove
      ? await prove(source, files[0]!, options, {
          project: { groupTypes: target.group_types, propertyMatchingVersion: target.property_matching_version },
          items: await readItems(api, path),
        })
      : undefined
    const isDisproved = certificate !== undefined && certificate.differing > 0
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
    if (isDisproved) throw new CommandError('Flags that should be exact have other values; nothing was imported.')
  })
}

function requireOneEnvironment({ file, environment, environmentSet, newEnvironmentSet }: ImportFromOptions): void {
  const isSet = environmentSet !== undefined || newEnvironmentSet !== undefined
  if (isSet || (file?.length ?? 0) > 1 || (environment?.length ?? 0) > 1) {
    throw new UsageError('--prove compares one environment: use one --environment and no environment set.')
  }
}

interface Planned {
  readonly project: TargetProject
  readonly items: readonly ImportItem[]
}

/** Compares with the service's SDK, prints what that has shown and writes the certificate. */
async function prove(
  source: ImportSource,
  { text }: SourceFile,
  options: ImportFromOptions,
  planned: Planned,
): Promise<ImportCertificate> {
  const [environment] = options.environment ?? []
  const { certificate, items } = await proveFile(source, text, {
    sdkFrom: options.sdkFrom ?? '.',
    pairs: options.pairs ?? 200_000,
    ...(options.seed !== undefined && { seed: options.seed }),
    project: planned.project,
    importOptions: {
      environment: environment === undefined ? undefined : splitMapping(environment).from,
      clientLanguage: options.clientLanguage as ImportOptions['clientLanguage'],
      flagdVersion: options.flagdVersion,
      includeArchived: options.includeArchived,
    },
  })
  requireSameItems(planned.items, items)
  if (options.certificate !== undefined) writeCertificate(options.certificate, certificate)
  if (!options.json) for (const line of certificateLines(certificate)) console.log(line)
  return certificate
}

/** What was compared here is what the server imports, unless one of them has another version. */
function requireSameItems(
  planned: readonly ImportItem[],
  compared: readonly Pick<ImportItem, 'kind' | 'status'>[],
): void {
  const [there, here] = [flagCounts(planned), flagCounts(compared)]
  for (const status of importStatuses) {
    if (there[status] === here[status]) continue
    throw new CommandError(
      `The server finds ${there[status]} flags ${status}, this command ${here[status]}. Use the version of the server here (this is ${version}).`,
    )
  }
}

/** What goes where: `content` and `mapping` of the request. */
function mappingOf(
  { environment: environmentMappings = [], environmentSet, newEnvironmentSet }: ImportFromOptions,
  files: readonly SourceFile[],
  project: number,
): object {
  const isSet = environmentSet !== undefined || newEnvironmentSet !== undefined
  const [first] = files
  if (files.length > 1 || first?.name !== undefined) {
    if (!isSet) throw new UsageError('--file <environment>=<file> needs --environment-set or --new-environment-set.')
    return { mapping: files.map(({ name, text }) => ({ name: name ?? '', content: text })) }
  }
  const environments = environmentMappings.map(splitMapping)
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
function splitMapping(argument: string): { readonly from: string; readonly to: string | undefined } {
  const [from = '', ...rest] = argument.split('=')
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

/** What is exact and has no notes needs no line of its own. */
function describe({ targets }: ImportPlan, items: readonly ImportItem[], isDryRun: boolean): void {
  const placeOf = (target: number): string => {
    const { name, environment } = targets[target] ?? {}
    return targets.length > 1 ? ` in ${name ?? environment ?? ''}` : ''
  }
  for (const { status, drift, kind, source_key, reasons, target } of items) {
    const isChangedHere = drift === 'changed_here' || drift === 'changed_both' || drift === 'exists_here'
    if (status === 'exact' && reasons.length === 0 && !isChangedHere) continue
    console.log(`${status}  ${kind} ${source_key}${placeOf(target)}${drift === 'new' ? '' : `  (${drift})`}`)
    for (const { message, path } of reasons) console.log(`  ${message} (${path})`)
  }
  for (const target of targets) {
    const { project, name, environment, exact, approximate, refused, archived, new_group_types: types } = target
    const from = environment === null ? '' : ` from ${environment}`
    const into = project === null ? `New project for ${name}` : `Project ${project}`
    console.log(`${into}${from}: ${exact} exact, ${approximate} approximate, ${refused} refused.`)
    if (archived > 0) console.log(`${archived} archived left out; --include-archived imports them.`)
    if (types.length > 0) console.log(`Group types ${isDryRun ? 'to create' : 'created'}: ${types.join(', ')}.`)
    const { created, updated, unchanged, skipped } = target
    if (!isDryRun)
      console.log(`${created} created, ${updated} updated, ${unchanged} unchanged, ${skipped} left as they are.`)
  }
  if (isDryRun) console.log('Nothing was imported.')
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
