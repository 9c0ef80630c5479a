import { type Overrides, unsignedToken } from './page-overrides.ts'

export interface SigningServer {
  /** The address of the server, such as `https://flags.example.com`. */
  readonly url: string
  /** The id of the project; default: the current one of the key's owner. */
  readonly project?: string | number | undefined
}

/** A sentence of the server about what it refuses. */
export class SigningRefused extends Error {}

const unsignedMilliseconds = 7 * 24 * 60 * 60_000

/** Has the server sign the overrides. Without a key only `halyard dev` accepts them. Rejects with SigningRefused. */
export async function signOverrides(
  { url, project }: SigningServer,
  key: string,
  overrides: Overrides,
): Promise<string> {
  if (key === '') return unsignedToken(overrides, Date.now() + unsignedMilliseconds)
  const response = await fetch(overridesUrl(url, project), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ overrides }),
  })
  const body = (await response.json().catch(() => ({}))) as { token?: unknown; detail?: unknown }
  if (typeof body.token === 'string') return body.token
  throw new SigningRefused(typeof body.detail === 'string' ? body.detail : `${response.status}`)
}

export type Variants = Readonly<Record<string, readonly string[]>>

/** As many as the server takes at once. */
const keysMax = 20

/** The variants of these flags, by flag key. Without an answer it is empty: then the key of a variant is typed. */
export async function variantsOf({ url, project }: SigningServer, key: string, flags: string[]): Promise<Variants> {
  const variants: Record<string, readonly string[]> = {}
  // The separator of the keys.
  const listed = flags.filter(flag => !flag.includes(','))
  try {
    for (let from = 0; from < listed.length; from += keysMax) {
      const keys = encodeURIComponent(listed.slice(from, from + keysMax).join())
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${overridesUrl(url, project)}variants/?keys=${keys}`, { headers })
      if (!response.ok) break
      const { results } = (await response.json()) as { results: { key: string; variants: string[] }[] }
      for (const flag of results) variants[flag.key] = flag.variants
    }
  } catch {
    // Signing reports that the server cannot be reached.
  }
  return variants
}

const overridesUrl = (url: string, project: SigningServer['project'] = '@current'): string =>
  `${url.replace(/\/+$/, '')}/api/projects/${encodeURIComponent(project)}/flag_overrides/`

/** Whether the server may be `halyard dev`. */
export const isLocal = (url: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url, 'http://localhost').hostname)
