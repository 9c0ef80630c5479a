import { ImportFileError } from '../../model/model.ts'
import {
  isRecord,
  type JsonRecord,
  listOf,
  requireList,
  requireRecord,
  requireText,
  textOr,
  textsIn,
} from '../document.ts'

/** A flag in one environment, from either kind of document. Its parts stay as they are in the document. */
export interface SourceFlag {
  readonly key: string
  readonly path: string
  /** Where `on`, `rules` and `fallthrough` are. */
  readonly statePath: string
  readonly description: string
  readonly tags: readonly string[]
  readonly archived: boolean
  readonly variations: readonly { readonly value: unknown; readonly name?: string }[]
  readonly state: JsonRecord
}

export interface SourceSegment {
  readonly key: string
  readonly path: string
  readonly name: string
  readonly description: string
  readonly state: JsonRecord
}

export interface SourceDocument {
  readonly environment: string | null
  readonly flags: readonly SourceFlag[]
  readonly segments: readonly SourceSegment[]
}

/**
 * The response of `GET /api/v2/flags/{project}` with `summary=0`, to which `segments` may be added, or the data that SDKs
 * receive: `{flags, segments}` by key.
 */
export function readDocument(document: unknown, environment: string | undefined): SourceDocument {
  const root = requireRecord(document, '', 'The document')
  if (Array.isArray(root.items)) return readExport(root, environment)
  if (isRecord(root.flags)) return readSdkData(root)
  if (isRecord(root.flagValues)) {
    throw new ImportFileError('The file has only values of flags (flagValues), no rules.', 'flagValues')
  }
  throw new ImportFileError('The file must have `items` (API) or `flags` (SDK data), as LaunchDarkly writes them.', '')
}

/** The names of the environments in a response of the API. */
export function environmentsIn(document: unknown): string[] {
  if (!isRecord(document)) return []
  const names = listOf(document.items).flatMap(item =>
    isRecord(item) && isRecord(item.environments) ? Object.keys(item.environments) : [],
  )
  return [...new Set(names)].sort()
}

/** A list of the API comes in pages, and a file with one of them would be imported as if it had everything. */
function requireAllPages(page: JsonRecord, path: string, what: 'flags' | 'segments'): void {
  const count = listOf(page.items).length
  const total = typeof page.totalCount === 'number' ? page.totalCount : count
  const links = isRecord(page._links) ? page._links : {}
  const next = isRecord(links.next) ? textOr(links.next.href, '') : ''
  if (total <= count && next === '') return
  const part = total > count ? `${count} of ${total} ${what}` : `only one page of ${what}`
  const self = (next || (isRecord(links.self) ? textOr(links.self.href, '') : '')).replace(
    /[?&](limit|offset)=[^&]*/g,
    '',
  )
  const url = `https://app.launchdarkly.com${self || '/api/v2/flags/<project>?summary=0'}`
  const rest =
    what === 'flags'
      ? `read every page with --url '${url}' --token-env LD_TOKEN`
      : 'request the next pages, or use --url, which reads them'
  throw new ImportFileError(`The file has ${part}; ${rest}.`, path)
}

function readExport(root: JsonRecord, chosen: string | undefined): SourceDocument {
  requireAllPages(root, 'items', 'flags')
  const environments = environmentsIn(root)
  const environment = chosen ?? (environments.length === 1 ? environments[0] : undefined)
  if (environment === undefined && environments.length > 1) {
    throw new ImportFileError(`Choose an environment: ${environments.join(', ')}.`, 'items[0].environments')
  }
  if (environment === undefined || !environments.includes(environment)) {
    const hint = environments.length === 0 ? 'Request the flags with summary=0.' : `It has ${environments.join(', ')}.`
    throw new ImportFileError(`The file has no environment "${environment ?? ''}". ${hint}`, 'items')
  }
  const flags = listOf(root.items).flatMap((value, index) => {
    const path = `items[${index}]`
    const item = requireRecord(value, path, 'A flag')
    const key = requireText(item.key, `${path}.key`, 'The key of a flag')
    const environments = requireRecord(item.environments, `${path}.environments`, 'The environments of a flag')
    const statePath = `${path}.environments.${environment}`
    if (environments[environment] === undefined) return []
    const state = requireRecord(environments[environment], statePath, 'The environment of a flag')
    const variations = requireList(item.variations, `${path}.variations`, '`variations`').map((variation, at) => {
      const { value: served, name } = requireRecord(variation, `${path}.variations[${at}]`, 'A variation')
      return { value: served, ...(typeof name === 'string' && name !== '' && { name }) }
    })
    return {
      key,
      path,
      statePath,
      description: textOr(item.description, '') || textOr(item.name, ''),
      tags: textsIn(item.tags),
      archived: item.archived === true || state.archived === true,
      variations,
      state,
    }
  })
  return { environment, flags, segments: readSegments(root.segments, environment) }
}

function readSdkData(root: JsonRecord): SourceDocument {
  const flags = Object.entries(root.flags as JsonRecord).flatMap(([key, value]) => {
    const path = `flags.${key}`
    const state = requireRecord(value, path, 'A flag')
    if (state.deleted === true) return []
    const variations = requireList(state.variations, `${path}.variations`, '`variations`').map(served => ({
      value: served,
    }))
    return { key, path, statePath: path, description: '', tags: [], archived: false, variations, state }
  })
  return { environment: null, flags, segments: readSegments(root.segments, null) }
}

/** An array, a page `{items}`, one of these for each environment, or segments by key. */
function readSegments(segments: unknown, environment: string | null): SourceSegment[] {
  if (segments === undefined || segments === null) return []
  if (
    isRecord(segments) &&
    environment !== null &&
    segments.items === undefined &&
    segments[environment] !== undefined
  ) {
    return segmentsAt(segments[environment], `segments.${environment}`)
  }
  return segmentsAt(segments, 'segments')
}

function segmentsAt(segments: unknown, path: string): SourceSegment[] {
  const isPage = isRecord(segments) && Array.isArray(segments.items)
  if (isPage) requireAllPages(segments, `${path}.items`, 'segments')
  const list = isPage ? segments.items : segments
  const entries: [string, unknown][] = Array.isArray(list)
    ? list.map((value, index) => [`${path}${isPage ? '.items' : ''}[${index}]`, value])
    : Object.entries(requireRecord(list, path, '`segments`')).map(([key, value]) => [`${path}.${key}`, value])
  return entries.flatMap(([at, value]) => {
    const state = requireRecord(value, at, 'A segment')
    if (state.deleted === true) return []
    const key = requireText(state.key ?? at.split('.').at(-1), `${at}.key`, 'The key of a segment')
    return {
      key,
      path: at,
      name: textOr(state.name, '') || key,
      description: textOr(state.description, ''),
      state,
    }
  })
}
