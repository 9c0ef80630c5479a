import { createHash } from 'node:crypto'
import { usesCohorts } from '@halyard/engine'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { Flag } from '../flags/flag.ts'
import { cohortToWire, createFlagWire, isTold } from './definition-wire.ts'

/** What libraries that evaluate for themselves load, ready to be sent. */
export interface DefinitionsBody {
  readonly json: Buffer
  readonly etag: string
}

export interface Definitions {
  /** Made once for a project as it is served. */
  bodyOf(served: ServedProject, withCohorts: boolean): DefinitionsBody
  /** The JSON of each flag by its id. */
  piecesOf(served: ServedProject): ReadonlyMap<number, string>
  /** The JSON of all that is told beside the flags. */
  surroundings(served: ServedProject): string
}

export function createDefinitions(): Definitions {
  const bodies = new WeakMap<ServedProject, { with?: DefinitionsBody; without?: DefinitionsBody }>()
  const flagWire = createFlagWire()

  function make(served: ServedProject, withCohorts: boolean): DefinitionsBody {
    const pieces = [...piecesOf(served).values()]
    const json = Buffer.from(`{"flags":[${pieces.join(',')}],${surroundings(served, withCohorts).slice(1)}`)
    return { json, etag: `W/"${createHash('sha1').update(json).digest('base64url')}"` }
  }

  /** By key, so that the same flags always give the same bytes. */
  const flagsOf = (served: ServedProject): readonly Flag[] =>
    [...served.flags.values()].filter(isTold).sort((a, b) => (a.key < b.key ? -1 : 1))

  const piecesOf = (served: ServedProject): ReadonlyMap<number, string> =>
    new Map(flagsOf(served).map(flag => [flag.id, flagWire.json(served, flag)]))

  const surroundings = (served: ServedProject, withCohorts: boolean): string =>
    JSON.stringify({
      group_type_mapping: served.project.groupTypes,
      cohorts: withCohorts ? Object.fromEntries(cohortsOf(served, flagsOf(served))) : {},
      minimal_flag_called_events: false,
      property_matching_version: served.project.propertyMatchingVersion,
    })

  return {
    piecesOf,
    surroundings: served => surroundings(served, true),
    bodyOf(served, withCohorts) {
      const made = bodies.get(served) ?? {}
      bodies.set(served, made)
      if (withCohorts) {
        made.with ??= make(served, true)
        return made.with
      }
      made.without ??= make(served, false)
      return made.without
    },
  }
}

/** The cohorts that the flags use, and those that they use. Who is in a static cohort only the server knows. */
function cohortsOf(served: ServedProject, flags: readonly Flag[]): readonly (readonly [string, unknown])[] {
  const byId = new Map(served.cohorts.map(cohort => [cohort.id, cohort]))
  const used = new Set(flags.flatMap(flag => usesCohorts(flag.filters)))
  for (const id of used) for (const inner of usesCohorts(byId.get(id)?.filters)) used.add(inner)
  return [...used]
    .sort((a, b) => a - b)
    .flatMap(id => {
      const cohort = byId.get(id)
      return cohort === undefined || cohort.isStatic ? [] : [[String(id), cohortToWire(cohort, served)] as const]
    })
}
