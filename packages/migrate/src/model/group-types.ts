import { type ImportedProject, sourceIdOf, type TargetProject } from './model.ts'

/** As many as a project can have. */
export const groupTypesMax = 5

/** The names of the group types that filters refer to. */
export function groupTypesIn(filters: unknown): string[] {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [field, inner] of Object.entries(value)) {
      if (field === 'payloads') continue
      const isIndex = field === 'group_type_index' || field === 'aggregation_group_type_index'
      const name = isIndex && typeof inner === 'string' ? sourceIdOf(inner) : undefined
      if (name === undefined) visit(inner)
      else names.add(name)
    }
  }
  visit(filters)
  return [...names]
}

/** The names of the group types that flags and cohorts refer to. */
export const groupTypesUsedBy = ({ flags, cohorts }: Pick<ImportedProject, 'flags' | 'cohorts'>): readonly string[] =>
  groupTypesIn([flags.map(({ filters }) => filters), cohorts.map(({ content }) => content)])

/** With the group types that the import creates, at the indexes that are free. */
export function withGroupTypes(
  project: TargetProject,
  imported: Pick<ImportedProject, 'flags' | 'cohorts'>,
): TargetProject {
  const groupTypes: Record<string, string> = { ...project.groupTypes }
  for (const name of groupTypesUsedBy(imported)) {
    if (Object.values(groupTypes).includes(name)) continue
    const free = Array.from({ length: groupTypesMax }, (_, index) => String(index)).find(
      index => groupTypes[index] === undefined,
    )
    // Converters refuse what would be too many.
    if (free !== undefined) groupTypes[free] = name
  }
  return { ...project, groupTypes }
}
