import type { Definitions, Subject } from '@halyard/engine'
import { consume, type Engine } from './engine.ts'

/** The parts of posthog-node that are used here. */
interface Library {
  PostHog: new (
    token: string,
    options: object,
  ) => {
    waitForLocalEvaluationReady(): Promise<boolean>
    getAllFlagsAndPayloads(id: string, options: object): Promise<{ featureFlags: object }>
  }
}

/** A call takes milliseconds, so a few subjects suffice. */
const subjectsMax = 30

/** Evaluates locally from definitions in a fake response; makes no network requests. */
export async function postHogEngine(
  library: unknown,
  definitions: Definitions,
  subjects: readonly Subject[],
): Promise<Engine> {
  const { PostHog } = library as Library
  const body = JSON.stringify({
    flags: definitions.flags.map(flag => ({ ...flag, deleted: false, ensure_experience_continuity: false })),
    cohorts: Object.fromEntries(definitions.cohorts.map(({ id, filters }) => [String(id), propertiesOf(filters)])),
    group_type_mapping: definitions.groupTypes,
    property_matching_version: definitions.propertyMatchingVersion,
  })
  const client = new PostHog('phc_bench', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_bench',
    featureFlagsPollingInterval: 3_600_000,
    fetch: async () => new Response(body, { headers: { 'content-type': 'application/json' } }),
  })
  await client.waitForLocalEvaluationReady()
  const some = subjects.slice(0, subjectsMax)
  return {
    async all() {
      for (const { distinctId, personProperties } of some) {
        const options = { personProperties, onlyEvaluateLocally: true }
        const { featureFlags } = await client.getAllFlagsAndPayloads(distinctId, options)
        const found = Object.keys(featureFlags).length
        if (found !== definitions.flags.length) throw new Error(`posthog-node returned ${found} flags.`)
        consume(found)
      }
      return some.length
    },
  }
}

const propertiesOf = (filters: unknown): unknown => (filters as { properties: unknown }).properties
