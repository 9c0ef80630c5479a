export type Headers = Readonly<Record<string, string | string[] | undefined>>
export type Runtime = 'server' | 'client'

const clientAgents =
  /^(?:mozilla|opera|chrome|safari|firefox)\b|posthog-(?:android|ios|react-native|flutter|js)|dart\/|cfnetwork/i
const serverAgents =
  /posthog-(?:python|ruby|php|java|go|node|dotnet|elixir|rust)|python-requests|python-urllib|curl\/|go-http-client|node-fetch|axios|okhttp/i

/**
 * The runtime of the calling SDK: the one it declares, else by its user agent, else by browser headers. Undefined when unknown;
 * then only flags for every runtime are returned.
 */
export function runtimeOf(declared: unknown, headers: Headers): Runtime | undefined {
  if (declared === 'server' || declared === 'client') return declared
  const agent = headers['user-agent']
  if (typeof agent === 'string') {
    if (serverAgents.test(agent)) return 'server'
    if (clientAgents.test(agent)) return 'client'
  }
  const isBrowser = headers['sec-fetch-mode'] ?? headers['sec-fetch-site'] ?? headers.origin ?? headers.referer
  return isBrowser === undefined ? undefined : 'client'
}
