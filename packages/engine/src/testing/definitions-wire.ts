import type { Definitions, FlagDefinition } from '../definition.ts'
import { isRecord, type JsonRecord } from '../json.ts'
import { usesCohorts, usesFlags } from '../references.ts'

/** The definitions in the form that client libraries download. */
export function definitionsWire(definitions: Definitions): JsonRecord {
  const chains = new Chains(definitions)
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (!isRecord(value)) return value
    const entries = Object.entries(value).map(([key, inner]) => [key, rewrite(inner)])
    const copy = Object.fromEntries(entries)
    if (copy.type !== 'flag') return copy
    const chain = chains.of(Number(copy.key))
    return { ...copy, key: chain.at(-1) ?? copy.key, dependency_chain: chain }
  }
  const dynamic = definitions.cohorts.filter(cohort => !cohort.isStatic)
  return {
    flags: definitions.flags.map(flag => ({
      id: flag.id,
      key: flag.key,
      active: flag.active,
      filters: rewrite(flag.filters),
      ensure_experience_continuity: flag.ensureExperienceContinuity ?? false,
      bucketing_identifier: flag.bucketingIdentifier ?? null,
    })),
    cohorts: Object.fromEntries(
      dynamic.map(({ id, filters }) => [id, rewrite((filters as { properties: unknown }).properties)]),
    ),
    group_type_mapping: definitions.groupTypes,
    property_matching_version: definitions.propertyMatchingVersion,
  }
}

/** The keys that have to be evaluated for a flag, itself last. */
class Chains {
  readonly #flags: ReadonlyMap<number, FlagDefinition>
  readonly #cohorts: ReadonlyMap<number, unknown>

  constructor({ flags, cohorts }: Definitions) {
    this.#flags = new Map(flags.map(flag => [flag.id, flag]))
    this.#cohorts = new Map(cohorts.map(cohort => [cohort.id, cohort.filters]))
  }

  of(id: number): string[] {
    const chain = new Set<string>()
    this.#visit(id, chain)
    return [...chain]
  }

  #visit(id: number, chain: Set<string>): void {
    const flag = this.#flags.get(id)
    if (flag === undefined) return
    for (const other of this.#flagsUsedBy(flag.filters)) this.#visit(other, chain)
    chain.add(flag.key)
  }

  #flagsUsedBy(filters: unknown): number[] {
    const nested = usesCohorts(filters).flatMap(id => this.#flagsUsedBy(this.#cohorts.get(id)))
    return [...usesFlags(filters), ...nested]
  }
}
