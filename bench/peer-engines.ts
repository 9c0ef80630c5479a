import type { Subject } from '@halyard/engine'
import { type Installations, ownerHeaders } from './installation.ts'
import type { Peers } from './peers.ts'

interface Deps {
  readonly installations: Installations
  readonly peers: Peers
  readonly say: (line: string) => void
}

type Engines = Readonly<Record<string, () => number | Promise<number>>> & { close?: () => Promise<void> }

/** Some suffice for engines that take milliseconds. */
const subjectsMax = 50

/** The engines of others, each evaluating all flags for some of the subjects. */
export async function peerEngines(deps: Deps, flagCount: number, subjects: readonly Subject[]): Promise<Engines> {
  return { ...(await postHogNode(deps, flagCount, subjects.slice(0, subjectsMax))) }
}

/** The parts of posthog-node that are used here. */
interface PostHogNode {
  PostHog: new (
    token: string,
    options: object,
  ) => {
    waitForLocalEvaluationReady(): Promise<boolean>
    getAllFlagsAndPayloads(id: string, options: object): Promise<{ featureFlags: object }>
    shutdown(): Promise<void>
  }
}

/** Evaluates locally what a Halyard serves it. */
async function postHogNode(
  { installations, peers }: Deps,
  flagCount: number,
  subjects: readonly Subject[],
): Promise<Engines> {
  const library = peers.find('posthog-node') as PostHogNode | undefined
  if (!library) return {}
  const halyard = await installations.start(flagCount)
  const client = new library.PostHog(halyard.token, {
    host: halyard.url,
    personalApiKey: ownerHeaders.authorization.slice('Bearer '.length),
    featureFlagsPollingInterval: 3_600_000,
  })
  await client.waitForLocalEvaluationReady()
  await halyard.stop()
  const evaluate = async () => {
    for (const { distinctId, personProperties } of subjects) {
      const options = { personProperties, onlyEvaluateLocally: true }
      const { featureFlags } = await client.getAllFlagsAndPayloads(distinctId, options)
      if (Object.keys(featureFlags).length !== flagCount) throw new Error('posthog-node left flags out.')
    }
    return subjects.length
  }
  return { 'posthog-node': evaluate, close: () => client.shutdown() } as unknown as Engines
}
