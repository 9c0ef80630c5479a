import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Peers } from '../peers.ts'
import type { FollowingClient } from '../rows/clients.ts'
import { startUnleash } from './unleash-server.ts'

interface Unleash {
  on(event: string, listener: () => void): void
  getVariant(name: string, context: object): { readonly payload?: { readonly value: string } }
  destroy(): void
}

const flagKey = 'followed'
/** The default is 15 seconds. */
const refreshMilliseconds = 1000

/** unleash-client with unleash-server. Undefined when either is not installed. */
export async function startUnleashClient(peers: Peers): Promise<FollowingClient | undefined> {
  const folder = peers.find('unleash-client')
  const server = folder === undefined ? undefined : await startUnleash(peers, 100)
  if (folder === undefined || server === undefined) return undefined
  const origin = `http://127.0.0.1:${server.port}`
  const features = '/api/admin/projects/default/features'
  const send = async (method: string, path: string, body: object) => {
    const headers = { ...server.adminHeaders, 'content-type': 'application/json' }
    const response = await fetch(origin + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`unleash-server returned ${response.status} for ${method} ${path}.`)
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  }
  const strategyWith = (value: string) => ({
    name: 'flexibleRollout',
    parameters: { rollout: '100', stickiness: 'default', groupId: flagKey },
    constraints: [],
    segments: [],
    variants: [
      {
        name: 'one',
        weight: 1000,
        weightType: 'variable',
        stickiness: 'default',
        payload: { type: 'string', value },
      },
    ],
  })
  await send('POST', features, { name: flagKey, type: 'release', impressionData: false })
  const environment = `${features}/${flagKey}/environments/development`
  const { id } = (await send('POST', `${environment}/strategies`, strategyWith('none'))) as { id: string }
  await send('POST', `${environment}/on`, {})

  const { Unleash: Client } = createRequire(join(folder, 'package.json'))('unleash-client') as {
    Unleash: new (options: object) => Unleash
  }
  const client = new Client({
    url: `${origin}/api/`,
    appName: 'bench',
    customHeaders: server.backendHeaders,
    refreshInterval: refreshMilliseconds,
    disableMetrics: true,
  })
  await new Promise<void>(resolve => client.on('synchronized', resolve))
  return {
    change: value => send('PUT', `${environment}/strategies/${id}`, strategyWith(value)),
    value: () => client.getVariant(flagKey, { userId: 'user' }).payload?.value ?? '',
    onDefinitions: listener => client.on('changed', listener),
    async stop() {
      client.destroy()
      await server.stop()
    },
  }
}
