import { isBehavioral, usesCohorts } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Project } from '../../tenancy.ts'
import { cohortToWire, createFlagWire, digestOf, isSentToSdks } from './definition-wire.ts'

/** The serialized definitions for SDKs with local evaluation. */
export interface DefinitionsBody {
  readonly json: Buffer
  readonly etag: string
  readonly projectToken: string
}

/** Names the public token of the project, which a client with a secret key needs to send events. */
export const projectTokenHeader = 'x-halyard-project-token'

/** Headers of definitions, on top of those that every response carries. */
export const definitionsHeaders = ({ etag, projectToken }: DefinitionsBody): Readonly<Record<string, string>> => ({
  etag,
  [projectTokenHeader]: projectToken,
  'cache-control': 'private, must-revalidate',
  'access-control-expose-headers': 'ETag',
})

export interface Definitions {
  /** Cached per version of the project. */
  bodyOf(served: ServedProject, withCohorts: boolean): DefinitionsBody
  /** A hash of the content with cohorts, equal on all nodes. Computed without the body. */
  idOf(served: ServedProject): string
  /** The JSON of each flag by its id. */
  piecesOf(served: ServedProject): ReadonlyMap<number, string>
  /** The JSON of everything except the flags. */
  surroundings(served: ServedProject): string
}

/** The serialized parts of a project. */
interface Serialized {
  readonly pieces: ReadonlyMap<number, string>
  readonly withCohorts: Surroundings
  /** Serialized on first use. */
  readonly withoutCohorts: () => Surroundings
}

interface Surroundings {
  readonly json: string
  readonly id: string
}

export function createDefinitions(): Definitions {
  const bodies = new WeakMap<Surroundings, DefinitionsBody>()
  const serialized = new WeakMap<ServedProject, Serialized>()
  const flagWire = createFlagWire()
  const cohortIds = new WeakMap<Flag, readonly number[]>()
  /** The flags of the last version of a project, sorted. */
  const sorted = new WeakMap<Project, readonly Flag[]>()

  /** Cached per flag: serializing filters is expensive, and usually one of many flags has changed. */
  function cohortsIn(flag: Flag): readonly number[] {
    const ids = cohortIds.get(flag) ?? usesCohorts(flag.filters)
    cohortIds.set(flag, ids)
    return ids
  }

  function cohortsUsedBy(flags: readonly Flag[]): Set<number> {
    const used = new Set<number>()
    for (const flag of flags) for (const id of cohortsIn(flag)) used.add(id)
    return used
  }

  /** By key, so that equal flags give equal bytes. Only what has changed since the last version is not in order yet. */
  function sortedFlags({ project, flags, live }: ServedProject): readonly Flag[] {
    const unchanged = (sorted.get(project) ?? []).filter(flag => flags.get(flag.id) === flag)
    const isKnown = new Set(unchanged)
    const others = live.filter(flag => !isKnown.has(flag) && isSentToSdks(flag))
    const all = [...unchanged, ...others].sort((a, b) => (a.key < b.key ? -1 : 1))
    sorted.set(project, all)
    return all
  }

  /** After a change of one flag, everything else is assembled from cached parts. */
  function serialize(served: ServedProject): Serialized {
    const flags = sortedFlags(served)
    const pieces = flags.map(flag => flagWire.piece(served, flag))
    const digests = pieces.map(({ digest }) => digest).join('')
    const around = (cohorts: Readonly<Record<string, unknown>>): Surroundings => {
      const json = JSON.stringify({
        group_type_mapping: served.project.groupTypes,
        cohorts,
        minimal_flag_called_events: false,
        property_matching_version: served.project.propertyMatchingVersion,
      })
      return { json, id: digestOf(digests + json) }
    }
    let withoutCohorts: Surroundings | undefined
    return {
      pieces: new Map(flags.map(({ id }, index) => [id, pieces[index]!.json])),
      withCohorts: around(Object.fromEntries(cohortsOf(served, cohortsUsedBy(flags)))),
      withoutCohorts: () => (withoutCohorts ??= around({})),
    }
  }

  function serializedOf(served: ServedProject): Serialized {
    const result = serialized.get(served) ?? serialize(served)
    serialized.set(served, result)
    return result
  }

  return {
    idOf: served => serializedOf(served).withCohorts.id,
    piecesOf: served => serializedOf(served).pieces,
    surroundings: served => serializedOf(served).withCohorts.json,
    bodyOf(served, withCohorts) {
      const all = serializedOf(served)
      const around = withCohorts ? all.withCohorts : all.withoutCohorts()
      const body = bodies.get(around) ?? {
        json: Buffer.from(`{"flags":[${[...all.pieces.values()].join(',')}],${around.json.slice(1)}`),
        etag: `W/"${around.id}"`,
        projectToken: served.project.apiToken,
      }
      bodies.set(around, body)
      return body
    },
  }
}

/** The cohorts that flags use, transitively. Only the server knows the members of static cohorts, and what people did. */
function cohortsOf(served: ServedProject, used: Set<number>): readonly (readonly [string, unknown])[] {
  const byId = new Map(served.cohorts.map(cohort => [cohort.id, cohort]))
  for (const id of used) for (const inner of usesCohorts(byId.get(id)?.filters)) used.add(inner)
  return [...used]
    .sort((a, b) => a - b)
    .flatMap(id => {
      const cohort = byId.get(id)
      return cohort === undefined || cohort.isStatic || isBehavioral(cohort.filters)
        ? []
        : [[String(id), cohortToWire(cohort, served)] as const]
    })
}
