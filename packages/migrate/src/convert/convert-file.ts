import { convertersBySource, environmentsBySource } from '../importers/converters.ts'
import { withGroupTypes } from '../model/group-types.ts'
import {
  EnvironmentRequiredError,
  type ImportedProject,
  type ImportOptions,
  type ImportSource,
  type TargetProject,
} from '../model/model.ts'
import { checkImported, type OnChecked, type TargetRules } from './check-imported.ts'

/** A file, and where it would be imported. */
export interface Conversion {
  readonly source: ImportSource
  /** Parsed. */
  readonly document: unknown
  readonly options: ImportOptions
  readonly project: TargetProject
}

/** The names of the environments in a file; empty when its format has none. Raises ImportFileError. */
export const environmentsIn = (source: ImportSource, document: unknown): readonly string[] =>
  environmentsBySource[source]?.(document) ?? []

/**
 * The flags and cohorts of a file as they would be saved in the project. Imports and their proofs both use it, so that what is proven is what
 * is imported. Raises ImportFileError.
 */
export async function convertFile(
  { source, document, options, project }: Conversion,
  rules: TargetRules,
  onConverted: (count: number) => OnChecked = () => () => {},
): Promise<ImportedProject> {
  const names = environmentsIn(source, document)
  if (options.environment === undefined && names.length > 1) throw new EnvironmentRequiredError(names)
  const groupTypes = Object.values(project.groupTypes)
  const imported = convertersBySource[source](document, { ...options, groupTypes })
  const onChecked = onConverted(imported.flags.length + imported.cohorts.length)
  return checkImported(imported, withGroupTypes(project, imported), rules, onChecked)
}
