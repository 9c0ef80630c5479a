import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { createEdge, type Edge } from '../edge-main.ts'
import { type Client, clientOf, type Scenario } from './scenario.ts'

/** An edge that runs in this process. */
export interface RunningEdge extends Client {
  readonly url: string
  readonly edge: Edge
  readonly folder: string
  /** Ends it and leaves its folder. */
  close(): Promise<void>
}

export interface EdgeOptions {
  /** Where its last state and its events are; otherwise in a new folder. */
  readonly folder?: string
  readonly environment?: Record<string, string>
}

export const newEdgeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'halyard-edge-'))
export const removeEdgeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/** A key of the scenario's owner for an edge. */
export async function edgeKey(s: Client, fields: object = {}): Promise<string> {
  const reply = await s.post('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:write'], ...fields })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.value
}

/** Starts an edge and resolves when it serves; whether it is ready is another question. */
export async function startEdge(upstream: string, key: string, options: EdgeOptions = {}): Promise<RunningEdge> {
  const folder = options.folder ?? (await newEdgeFolder())
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

/** What `/flags/` answers, without what differs from call to call. */
export async function flagsAt(at: Pick<Scenario, 'as'> | RunningEdge, body: object): Promise<unknown> {
  const client = 'as' in at ? at.as(undefined) : at
  const reply = await client.post('/flags/?v=2', body)
  if (reply.status !== 200) return { status: reply.status }
  const { requestId: _requestId, evaluatedAt: _evaluatedAt, ...answer } = reply.body
  return answer
}
