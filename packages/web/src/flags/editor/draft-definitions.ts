import type { Flag, Project } from '@halyard/contract'
import {
  type CohortDefinition,
  checkFlag,
  type Definitions,
  type FlagDefinition,
  type Issue,
  usesFlags,
} from '@halyard/engine'
import { RE2JS } from 're2js'
import { writeFilters } from '../filters.ts'
import type { Draft } from './draft.ts'

/** The same regular expressions as on the server: linear time, no lookaround. */
export const regex = (pattern: string) => {
  const compiled = RE2JS.compile(pattern)
  return { size: compiled.programSize(), test: (text: string) => compiled.matcher(text).find() }
}

export const flagDefinition = (flag: Flag): FlagDefinition => ({
  id: flag.id,
  key: flag.key,
  active: flag.active,
  filters: flag.filters,
  ensureExperienceContinuity: flag.ensure_experience_continuity,
  bucketingIdentifier: flag.bucketing_identifier as FlagDefinition['bucketingIdentifier'] & (string | null),
})

export const draftDefinition = (draft: Draft, id: number): FlagDefinition => ({
  id,
  key: draft.key,
  active: draft.active,
  filters: writeFilters(draft.filters),
  ensureExperienceContinuity: draft.ensure_experience_continuity,
  bucketingIdentifier: draft.bucketing_identifier,
})

/** The draft and its dependencies: everything that the engine needs to evaluate it. */
export function definitionsFor(
  draft: FlagDefinition,
  flags: readonly Flag[],
  cohorts: readonly CohortDefinition[],
  project: Pick<Project, 'group_types' | 'property_matching_version'>,
): Definitions {
  const byId = new Map(flags.map(flag => [flag.id, flag]))
  const needed = new Map<number, FlagDefinition>()
  const wanted = [...usesFlags(draft.filters)]
  for (let id = wanted.pop(); id !== undefined; id = wanted.pop()) {
    const flag = byId.get(Number(id))
    if (!flag || flag.id === draft.id || needed.has(flag.id)) continue
    needed.set(flag.id, flagDefinition(flag))
    wanted.push(...usesFlags(flag.filters))
  }
  return {
    flags: [...needed.values(), draft],
    cohorts,
    groupTypes: project.group_types,
    propertyMatchingVersion: project.property_matching_version === 1 ? 1 : 2,
  }
}

export const issuesOf = (draft: FlagDefinition, definitions: Definitions): Issue[] =>
  checkFlag(draft, { ...definitions, flags: definitions.flags.filter(flag => flag.id !== draft.id) }, { regex })
