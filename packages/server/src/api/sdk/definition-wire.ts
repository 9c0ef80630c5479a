import { createHash } from 'node:crypto'
import { type CohortDefinition, isServerOnly } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'

/** Domain → wire, for SDKs with local evaluation. */

/** The internal targeting flags of surveys are not sent to server SDKs. */
export const isSentToSdks = (flag: Flag): boolean => !flag.key.startsWith('survey-targeting-')

export interface FlagWire {
  /** The flag as JSON text, with its hash; cached, unless it depends on other flags. */
  piece(served: ServedProject, flag: Flag): FlagPiece
}

export interface FlagPiece {
  readonly json: string
  readonly digest: string
}

export const digestOf = (text: string): string => createHash('sha1').update(text).digest('base64url')

export function createFlagWire(): FlagWire {
  const pieces = new WeakMap<Flag, FlagPiece & { readonly isLeftToServer: boolean }>()
  const serverOnly = new WeakMap<Flag, boolean>()
  function isOnlyOnServer(flag: Flag): boolean {
    const is = serverOnly.get(flag) ?? isServerOnly(flag.filters)
    serverOnly.set(flag, is)
    return is
  }
  return {
    piece(served, flag) {
      // Cohorts and dependencies may change while the flag does not.
      const isLeftToServer = isOnlyOnServer(flag) || served.snapshot.isLeftToServer(flag.key)
      const made = pieces.get(flag)
      if (made !== undefined && made.isLeftToServer === isLeftToServer) return made
      const dependencies = dependenciesIn(served)
      const json = JSON.stringify(flagToDefinitionWire(flag, isLeftToServer, dependencies))
      const piece = { json, digest: digestOf(json), isLeftToServer }
      if (!dependencies.wereRead()) pieces.set(flag, piece)
      return piece
    },
  }
}

const flagToDefinitionWire = (flag: Flag, isLeftToServer: boolean, dependencies: Dependencies): Properties => ({
  id: flag.id,
  team_id: flag.projectId,
  name: flag.name,
  key: flag.key,
  filters: filtersToWire(flag.filters, dependencies),
  deleted: false,
  active: flag.active,
  // SDKs leave flags with experience continuity to the server.
  ensure_experience_continuity: flag.ensureExperienceContinuity || isLeftToServer,
  // Halyard's own clients have the engine, and evaluate in process what PostHog's SDKs leave to the server.
  ...(isLeftToServer && !flag.ensureExperienceContinuity && { evaluates_in_process: true }),
  has_encrypted_payloads: false,
  version: flag.version,
  evaluation_runtime: flag.evaluationRuntime ?? 'all',
  evaluation_contexts: flag.evaluationContexts,
  bucketing_identifier: flag.bucketingIdentifier,
  has_experiment: false,
})

function filtersToWire(filters: Properties, dependencies: Dependencies): Properties {
  const wire: Record<string, unknown> = { ...filters }
  if (Array.isArray(filters.groups)) {
    wire.groups = filters.groups.map(group => withProperties(group, 'properties', dependencies))
  }
  if (isObject(filters.payloads)) {
    // A payload of null is none; as text it would be one.
    const present = Object.entries(filters.payloads).filter(([, value]) => value !== null)
    wire.payloads = Object.fromEntries(
      present.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
    )
  }
  return wire
}

function withProperties(group: unknown, field: string, dependencies: Dependencies): unknown {
  if (!isObject(group) || !Array.isArray(group[field])) return group
  return { ...group, [field]: group[field].map((item: unknown) => propertyToWire(item, dependencies)) }
}

/** Dependencies are stored by id. SDKs expect keys, and the order of evaluation. */
function propertyToWire(property: unknown, dependencies: Dependencies): unknown {
  if (!isObject(property)) return property
  if (Array.isArray(property.values)) return withProperties(property, 'values', dependencies)
  if (property.type !== 'flag') return property
  const { key, chain } = dependencies.of(String(property.key))
  return { ...property, key, dependency_chain: chain }
}

/** The tree of a cohort's filters. */
export function cohortToWire({ filters }: CohortDefinition, served: ServedProject): unknown {
  const tree = isObject(filters) && isObject(filters.properties) ? filters.properties : filters
  const wire = isObject(tree) ? tree : {}
  return withProperties({ type: 'AND', values: [], ...wire }, 'values', dependenciesIn(served))
}

interface Dependencies {
  /** The key of the referenced flag, and the keys to evaluate in order, itself last; empty when that is impossible. */
  of(reference: string): { readonly key: string; readonly chain: readonly string[] }
  wereRead(): boolean
}

function dependenciesIn({ flags, snapshot }: ServedProject): Dependencies {
  let wereRead = false

  const indexOf = (reference: string): number | undefined => {
    const byId = /^\d+$/.test(reference) ? flags.get(Number(reference)) : undefined
    return snapshot.indexOf(byId?.key ?? reference)
  }

  return {
    of(reference) {
      wereRead = true
      const index = indexOf(reference)
      const key = index === undefined ? reference : snapshot.flags[index]!.key
      return { key, chain: snapshot.dependencyChain(reference) }
    },
    wereRead: () => wereRead,
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
