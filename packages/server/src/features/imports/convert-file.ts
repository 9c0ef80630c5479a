import { convertersBySource, environmentsBySource } from '@halyard/importers/converters'
import { parseJson } from '@halyard/importers/document'
import { groupTypesIn } from '@halyard/importers/group-types'
import {
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  ImportFileError,
  type ImportOptions,
  type ImportSource,
} from '@halyard/importers/model'
import { invalid, Problem } from '../../problem.ts'
import { groupTypesPerProjectMax } from '../persons/group.ts'
import { checkImported, type TargetProject } from './check-imported.ts'

/** The names of the environments in a file; empty when its format has none. Raises `invalid`. */
export function environmentsIn(source: ImportSource, document: unknown): readonly string[] {
  return inFile(() => environmentsBySource[source]?.(document) ?? [])
}

/**
 * The flags and cohorts of a file as they would be saved in the project. Imports and their proofs both use it, so that what is proven is what
 * is imported. Raises `invalid` with the place in the file.
 */
export async function convertFile(
  source: ImportSource,
  document: unknown,
  options: ImportOptions,
  project: TargetProject,
  onConverted: (count: number) => (checked: number) => void = () => () => {},
): Promise<ImportedProject> {
  const names = environmentsIn(source, document)
  if (options.environment === undefined && names.length > 1) {
    throw new Problem('invalid', `The file has several environments; choose one: ${names.join(', ')}.`, {
      field: 'mapping',
      code: 'environment_required',
      extra: { environments: names },
    })
  }
  const converter = convertersBySource[source]
  if (!converter) throw invalid('source', 'invalid_choice', `Files of ${source} cannot be imported yet.`)
  const groupTypes = Object.values(project.groupTypes)
  const imported = inFile(() => converter(document, { ...options, groupTypes }))
  const onChecked = onConverted(imported.flags.length + imported.cohorts.length)
  return checkImported(imported, withGroupTypes(project, imported), onChecked)
}

/** With the group types that the import creates, at the indexes that are free. */
export function withGroupTypes(
  project: TargetProject,
  imported: Pick<ImportedProject, 'flags' | 'cohorts'>,
): TargetProject {
  const groupTypes: Record<string, string> = { ...project.groupTypes }
  for (const name of groupTypesUsedBy(imported)) {
    if (Object.values(groupTypes).includes(name)) continue
    const free = Array.from({ length: groupTypesPerProjectMax }, (_, index) => String(index)).find(
      index => groupTypes[index] === undefined,
    )
    // Converters refuse what would be too many.
    if (free !== undefined) groupTypes[free] = name
  }
  return { ...project, groupTypes }
}

/** The names of the group types that flags and cohorts refer to. */
export const groupTypesUsedBy = ({
  flags,
  cohorts,
}: {
  readonly flags: readonly ImportedFlag[]
  readonly cohorts: readonly ImportedCohort[]
}): readonly string[] => groupTypesIn([flags.map(({ filters }) => filters), cohorts.map(({ content }) => content)])

/** The text of a file, or the JSON in it. Raises `invalid`. */
export const readContent = (content: unknown): unknown =>
  typeof content === 'string' ? inFile(() => parseJson(content)) : content

/** Raises `invalid` with the place in the file. */
function inFile<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    const place = error.path === '' ? '' : ` (${error.path})`
    throw new Problem('invalid', `${error.message}${place}`, {
      field: 'content',
      code: 'invalid_file',
      extra: { path: error.path },
    })
  }
}
