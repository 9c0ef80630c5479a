import { expect } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'

const variants = [
  { key: 'control', rollout_percentage: 50 },
  { key: 'test', rollout_percentage: 50 },
]
const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
const flags = [
  { key: 'on', filters: { groups: [{ properties: [] }], payloads: { true: '{"color":"red"}' } } },
  { key: 'off', active: false },
  { key: 'pro', filters: { groups: [{ properties: pro }] } },
  { key: 'half', filters: { groups: [{ properties: [], rollout_percentage: 50 }] } },
  { key: 'experiment', filters: { groups: [{ properties: [] }], multivariate: { variants } } },
]

/** A server with a flag of each kind that SDKs distinguish. */
export async function startWithSdkFlags(environment: Record<string, string>): Promise<Program> {
  const s = await startProgram('sqlite', environment)
  for (const flag of flags) expect((await s.post(`${s.project}/feature_flags/`, flag)).status).toBe(201)
  return s
}

/** The values that the server has for a person, as SDKs return them. */
export async function valuesOf(s: Program, distinct_id: string, plan: string) {
  const body = { token: s.projectToken, distinct_id, person_properties: { plan } }
  const { flags: details } = (await s.as(undefined).post('/flags/?v=2', body)).body
  const entries = Object.entries(details as Record<string, { enabled: boolean; variant: string | null }>)
  return Object.fromEntries(entries.map(([key, { variant, enabled }]) => [key, variant ?? enabled]))
}

/** A stored property of the person. */
export async function storedProperty(s: Program, distinctId: string, name: string): Promise<unknown> {
  const { body } = await s.get(`${s.project}/persons/?distinct_id=${encodeURIComponent(distinctId)}`)
  return body.results?.[0]?.properties?.[name]
}
