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
  { url, project = '@current' }: SigningServer,
  key: string,
  overrides: Overrides,
): Promise<string> {
  if (key === '') return unsignedToken(overrides, Date.now() + unsignedMilliseconds)
  const base = url.replace(/\/+$/, '')
  const response = await fetch(`${base}/api/projects/${encodeURIComponent(project)}/flag_overrides/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ overrides }),
  })
  const body = (await response.json().catch(() => ({}))) as { token?: unknown; detail?: unknown }
  if (typeof body.token === 'string') return body.token
  throw new SigningRefused(typeof body.detail === 'string' ? body.detail : `${response.status}`)
}

/** Whether the server may be `halyard dev`. */
export const isLocal = (url: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url, 'http://localhost').hostname)
