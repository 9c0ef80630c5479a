import { existsSync, readFileSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { createGuardedClient } from '../../outgoing/guarded-client.ts'
import { OutgoingFailure } from '../../outgoing/outgoing.ts'
import { CommandError, UsageError } from '../usage.ts'

export interface SourceOptions {
  /** `<file>`, or `<environment>=<file>`. */
  readonly file?: readonly string[]
  /** Where the service responds with its definitions. */
  readonly url?: string
  /** The environment variable with the service's API token. */
  readonly tokenEnv?: string
}

export interface SourceFile {
  /** The environment that was named before the file. */
  readonly name: string | undefined
  readonly text: string
}

/** The files of `--file`, or what `--url` returns, with all of its pages. */
export async function readSource(source: string, { file, url, tokenEnv }: SourceOptions): Promise<SourceFile[]> {
  if ((file === undefined) === (url === undefined)) throw new UsageError('Use either --file or --url.')
  if (file !== undefined) return file.map(readNamedFile)
  const token = tokenEnv === undefined ? undefined : process.env[tokenEnv]
  if (tokenEnv !== undefined && !token)
    throw new UsageError(`The environment variable ${tokenEnv} (--token-env) is empty.`)
  const headers = token === undefined ? {} : { authorization: authorization(source, token) }
  return withDownloads(headers, async download => [{ name: undefined, text: await readUrl(source, url!, download) }])
}

/** A file whose own name has an equals sign is read by that name. */
function readNamedFile(argument: string): SourceFile {
  const [, name, path] = existsSync(argument) ? [] : (/^([^=]+)=(.+)$/.exec(argument) ?? [])
  return { name, text: readFile(path ?? argument) }
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

type Download = (url: string) => Promise<string>

/** Bodies are limited by the server as well. */
const bytesMax = 64 * 1024 * 1024
const secondsMax = 60
const pagesMax = 1000

/** By the same rules as requests of the server: private networks only for origins that the settings trust. */
async function withDownloads<T>(
  headers: Readonly<Record<string, string>>,
  work: (download: Download) => Promise<T>,
): Promise<T> {
  const { trustedOrigins } = readConfig(process.env)
  const outgoing = createGuardedClient({ trustedOrigins })
  let bytesLeft = bytesMax
  const download: Download = async url => {
    try {
      const limits = { timeoutMsMax: secondsMax * 1000, answerBytesMax: bytesLeft }
      const { status, body } = await outgoing.request({
        url,
        headers: { accept: 'application/json', ...headers },
        ...limits,
      })
      if (status !== 200)
        throw new CommandError(`${new URL(url).origin} returned ${status} for ${url}. Check --url and --token-env.`)
      bytesLeft -= body.byteLength
      return body.toString('utf8')
    } catch (error) {
      if (error instanceof OutgoingFailure) throw new CommandError(`${url}: ${error.message}`)
      throw error
    }
  }
  try {
    return await work(download)
  } finally {
    await outgoing.close()
  }
}

async function readUrl(source: string, url: string, download: Download): Promise<string> {
  const paging = pagings[source]
  if (paging === undefined) return download(url)
  const document = await readPages(url, paging, download)
  if (source !== 'launchdarkly' || document.segments !== undefined) return JSON.stringify(document)
  return JSON.stringify({ ...document, segments: await readSegments(url, document, download) })
}

type Json = Readonly<Record<string, unknown>>

/** Where a page has its items and the address of the next page. */
interface Paging {
  readonly items: string
  readonly next: (page: Json) => unknown
}

const pagings: Readonly<Record<string, Paging>> = {
  launchdarkly: { items: 'items', next: page => objectOf(objectOf(page._links).next).href },
  posthog: { items: 'results', next: page => page.next },
}

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** One document with the items of all pages. Pages are read from the origin of the first only, since the token is sent along. */
async function readPages(url: string, { items, next }: Paging, download: Download): Promise<Json> {
  const collected: unknown[] = []
  let address = new URL(url)
  for (let pages = 1; ; pages++) {
    const page = parsed(await download(address.href), address)
    const { [items]: list } = page
    // Not a list: the converter says what is wrong with the document.
    if (!Array.isArray(list)) return page
    collected.push(...list)
    const following = next(page)
    if (typeof following !== 'string' || following === '') {
      const { _links: _, next: __, ...rest } = page
      return { ...rest, [items]: collected }
    }
    const nextAddress = new URL(following, address)
    if (nextAddress.origin !== address.origin) {
      throw new CommandError(`${address.origin} names a next page at ${nextAddress.origin}, which is not requested.`)
    }
    if (pages === pagesMax) throw new CommandError(`${address.origin} has more than ${pagesMax} pages.`)
    address = nextAddress
  }
}

function parsed(text: string, { href }: URL): Json {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    throw new CommandError(`${href} did not return JSON. Check --url.`)
  }
}

/** LaunchDarkly lists flags and segments at two addresses, the latter by environment. */
async function readSegments(url: string, { items }: Json, download: Download): Promise<Json> {
  const address = new URL(url)
  const project = /^(.*\/api\/v2)\/flags\/([^/]+)\/?$/.exec(address.pathname)
  const flags = Array.isArray(items) ? items.map(objectOf) : []
  const environments = new Set(flags.flatMap(flag => Object.keys(objectOf(flag.environments))))
  if (project === null) return {}
  const segments: Record<string, Json> = {}
  for (const environment of environments) {
    const path = `${project[1]}/segments/${project[2]}/${encodeURIComponent(environment)}?limit=50`
    segments[environment] = await readPages(new URL(path, address).href, pagings.launchdarkly!, download)
  }
  return segments
}
