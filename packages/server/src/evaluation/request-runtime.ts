export type Headers = Readonly<Record<string, string | string[] | undefined>>
export type Runtime = 'server' | 'client'

const clientAgents =
  /^(?:mozilla|opera|chrome|safari|firefox)\b|posthog-(?:android|ios|react-native|flutter|js)|dart\/|cfnetwork/i
const serverAgents =
  /posthog-(?:python|ruby|php|java|go|node|dotnet|elixir|rust)|python-requests|python-urllib|curl\/|go-http-client|node-fetch|axios|okhttp/i

/**
 * Where the asking library runs: what it says, else what its name tells, else browsers' own headers. Undefined when nothing
 * tells; then only flags for every runtime are answered.
 */
export function runtimeOf(said: unknown, headers: Headers): Runtime | undefined {
  if (said === 'server' || said === 'client') return said
  const agent = headers['user-agent']
  if (typeof agent === 'string') {
    if (serverAgents.test(agent)) return 'server'
    if (clientAgents.test(agent)) return 'client'
  }
  const isBrowser = headers['sec-fetch-mode'] ?? headers['sec-fetch-site'] ?? headers.origin ?? headers.referer
  return isBrowser === undefined ? undefined : 'client'
}
