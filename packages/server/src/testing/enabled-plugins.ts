import { expect } from 'vitest'
import { instantOf } from '../instant.ts'
import type { Scenario } from './scenario.ts'

/** Creates a plugin with this source and enables it in the first project. */
export async function enablePlugin(s: Scenario, source: string, manifest: object = {}, config: object = {}) {
  const made = await s.post(`${s.organization}/plugins/`, {})
  const plugin: number = made.body.id
  const files = { 'plugin.json': JSON.stringify({ name: `p${plugin}`, ...manifest }), 'index.ts': source }
  const written = await s.patch(`${s.organization}/plugins/${plugin}/update_source/`, files)
  expect(written.status).toBe(200)
  const reply = await s.post(`${s.project}/plugin_configs/`, { plugin, enabled: true, ...config })
  expect(reply.status).toBe(201)
  const path = `${s.project}/plugin_configs/${reply.body.id}/`
  return {
    id: reply.body.id as number,
    plugin,
    path,
    read: async () => (await s.get(path)).body,
    messages: async (): Promise<string[]> =>
      (await s.get(`${path}logs/?limit=1000`)).body.results
        .map((entry: { message: string }) => entry.message)
        .reverse(),
    off: () => s.patch(path, { enabled: false }),
  }
}

export const projectOf = async (s: Scenario) => (await s.halyard.database.read(tx => tx.projects.find(s.projectId)))!

export const pluginEvent = (name: string, properties: Record<string, unknown> = {}) => ({
  uuid: '01a1dd5c-4a05-79f8-af16-7dd175c73f78',
  name,
  distinctId: 'd',
  properties: properties as never,
  at: instantOf(new Date()),
  ip: '1.2.3.4',
})

/** What the plugins of the first project make of an event. */
export const transformEvent = async (s: Scenario, incoming: ReturnType<typeof pluginEvent>) =>
  s.halyard.plugins.runtime.events.transform(await projectOf(s), incoming)
