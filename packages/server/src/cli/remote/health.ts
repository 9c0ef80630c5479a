import { printJson } from '../output.ts'
import { CommandError } from '../usage.ts'
import { type RemoteOptions, serverUrl } from './api.ts'

const secondsMax = 5

/** `halyard health`: fails unless the server responds, or with `--ready`, unless it is ready. For health checks of containers. */
export async function health(
  options: RemoteOptions & { readonly ready?: boolean; readonly json?: boolean },
): Promise<void> {
  const url = serverUrl(options)
  const path = options.ready ? '/_readyz' : '/_livez'
  const response = await fetch(url + path, { signal: AbortSignal.timeout(secondsMax * 1000) }).catch(() => undefined)
  if (!response) throw new CommandError(`No Halyard server responds at ${url}.`)
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  if (options.json) printJson({ url, http_status: response.status, ...body })
  else
    console.log(
      Object.entries(body)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    )
  if (!response.ok) throw new CommandError(`${url} is not ready.`)
}
