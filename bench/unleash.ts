import type { Peers } from './peers.ts'
import type { RequestPlan } from './requests.ts'

/** A running unleash-server with as many flags. */
export interface UnleashServer {
  readonly target: { readonly port: number; readonly pid: number }
  readonly list: RequestPlan
  readonly create: RequestPlan
  readonly evaluate: RequestPlan
  readonly features: RequestPlan
  stop(): Promise<void>
}

export async function startUnleash(
  _peers: Peers,
  _flagCount: number,
  _say: (line: string) => void,
): Promise<UnleashServer | undefined> {
  return undefined
}
