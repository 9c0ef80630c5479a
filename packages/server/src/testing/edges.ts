import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Edge } from '../edge-main.ts'
import { edgeBundle } from './bundles.ts'
import { type Client, clientOf, type Scenario } from './scenario.ts'

/** An edge running in this process. */
export interface RunningEdge extends Client {
  readonly url: string
  readonly edge: Edge
  readonly folder: string
  /** Stops the edge and leaves its folder. */
  close(): Promise<void>
}

export interface EdgeOptions {
  /** Data folder with its last state and spooled events; a new one by default. */
  readonly folder?: string
  readonly environment?: Record<string, string>
}

export const newEdgeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'halyard-edge-'))
export const removeEdgeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/** Creates an edge key for the scenario's owner. */
export async function edgeKey(s: Client, fields: object = {}): Promise<string> {
  const reply = await s.post('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:write'], ...fields })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.value
}

/** Starts an edge and resolves when it listens; it may not be ready yet. */
export async function startEdge(upstream: string, key: string, options: EdgeOptions = {}): Promise<RunningEdge> {
  const folder = options.folder ?? (await newEdgeFolder())
  const { createEdge, readConfig } = await edgeBundle()
  const config = readConfig({
    HALYARD_UPSTREAM: upstream,
    HALYARD_UPSTREAM_KEY: key,
    HALYARD_EDGE_DATA: folder,
    PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...options.environment,
  })
  const edge = await createEdge({ ...config, upstream, upstreamKey: key }, pino({ level: config.logLevel }))
  const url = await edge.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...clientOf(url, undefined), url, edge, folder, close: () => edge.close() }
}

/** The response of `/flags/` without the fields that differ between calls. */
export async function flagsAt(at: Pick<Scenario, 'as'> | RunningEdge, body: object): Promise<unknown> {
  const client = 'as' in at ? at.as(undefined) : at
  const reply = await client.post('/flags/?v=2', body)
  if (reply.status !== 200) return { status: reply.status }
  const { requestId: _requestId, evaluatedAt: _evaluatedAt, ...result } = reply.body
  return result
}
