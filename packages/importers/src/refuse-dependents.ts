import { type ImportedFlag, type ImportedProject, type ImportItem, sourceIdOf } from './model.ts'

/** Refuses flags that depend on a flag or cohort which is not imported, or on themselves, and puts dependencies first. */
export function refuseDependents(project: ImportedProject): ImportedProject {
  const cohortIds = new Set(project.cohorts.map(({ sourceId }) => sourceId))
  const byId = new Map(project.flags.map(flag => [flag.sourceId, flag]))
  const refused = new Map<string, string>()
  const ordered: ImportedFlag[] = []
  const state = new Map<string, 'open' | 'done'>()

  /** Why the flag cannot be imported. */
  function visit(flag: ImportedFlag): string | undefined {
    if (state.get(flag.sourceId) === 'open') return 'The flag depends on itself through other flags.'
    if (state.get(flag.sourceId) === 'done') return refused.get(flag.sourceId)
    state.set(flag.sourceId, 'open')
    const reason = reasonAgainst(flag)
    state.set(flag.sourceId, 'done')
    if (reason === undefined) ordered.push(flag)
    else refused.set(flag.sourceId, reason)
    return reason
  }

  function reasonAgainst(flag: ImportedFlag): string | undefined {
    const uses = usesOf(flag)
    const lost = uses.cohorts.find(id => !cohortIds.has(id))
    if (lost !== undefined) return `The segment "${lost}" is not imported.`
    for (const id of uses.flags) {
      const other = byId.get(id)
      const reason = other ? visit(other) : ''
      if (reason !== undefined) {
        return reason.startsWith('The flag depends on itself')
          ? reason
          : `The flag "${id}" that it depends on is not imported.`
      }
    }
    return undefined
  }

  for (const flag of project.flags) visit(flag)
  const items = project.items.map((item): ImportItem => {
    const message = item.kind === 'flag' ? refused.get(item.sourceId) : undefined
    if (message === undefined || item.status === 'refused') return item
    return { ...item, status: 'refused', reasons: [...item.reasons, { message, path: item.sourceKey }] }
  })
  return { ...project, flags: ordered, items: withInheritedDifferences(ordered, items) }
}

/** A flag is at most as exact as what it depends on. Dependencies come first, so that one pass is enough. */
function withInheritedDifferences(flags: readonly ImportedFlag[], items: readonly ImportItem[]): ImportItem[] {
  const nameOf = ({ kind, sourceId }: Pick<ImportItem, 'kind' | 'sourceId'>) => `${kind} ${sourceId}`
  const byName = new Map(items.map(item => [nameOf(item), item]))
  for (const flag of flags) {
    const item = byName.get(nameOf({ kind: 'flag', sourceId: flag.sourceId }))
    if (item === undefined || item.status !== 'exact') continue
    const uses = usesOf(flag)
    const used = [
      ...uses.flags.map(sourceId => byName.get(nameOf({ kind: 'flag', sourceId }))),
      ...uses.cohorts.map(sourceId => byName.get(nameOf({ kind: 'segment', sourceId }))),
    ]
    const cause = used.find(other => other?.status === 'approximate')
    if (cause === undefined) continue
    const message = `It depends on the ${cause.kind} "${cause.sourceKey}", which is approximate.`
    byName.set(nameOf(item), { ...item, status: 'approximate', reasons: [{ message, path: item.sourceKey }] })
  }
  return items.map(item => byName.get(nameOf(item))!)
}

/** The source ids that the conditions of a flag name. */
export function usesOf({ filters }: Pick<ImportedFlag, 'filters'>): { flags: string[]; cohorts: string[] } {
  const properties = filters.groups.flatMap(group => group.properties ?? [])
  const idsOf = (type: string, field: 'key' | 'value') =>
    properties.flatMap(property => (property.type === type ? (sourceIdOf(String(property[field])) ?? []) : []))
  return { flags: [...new Set(idsOf('flag', 'key'))], cohorts: [...new Set(idsOf('cohort', 'value'))] }
}
