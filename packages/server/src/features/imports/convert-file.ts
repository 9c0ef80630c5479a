import { cohortNameCharactersMax, flagKeyCharactersMax } from '@halyard/contract'
import type { TargetRules } from '@halyard/migrate/convert/check-imported'
import { type Conversion, convertFile as convert, environmentsIn } from '@halyard/migrate/convert/convert-file'
import { parseJson } from '@halyard/migrate/importers/document'
import {
  EnvironmentRequiredError,
  type ImportedProject,
  ImportFileError,
  type ImportSource,
} from '@halyard/migrate/model'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { Problem } from '../../problem.ts'
import { filtersBytesMax } from '../flags/check-flag.ts'
import { schemaIssue } from '../flags/schemas/payload-schema.ts'

export const targetRules: TargetRules = {
  regex: linearRegex,
  flagKeyCharactersMax,
  cohortNameCharactersMax,
  filtersBytesMax,
  schemaIssue,
}

/** Calls `onConverted` with the number of flags and cohorts, and what that returns with the number of those checked. */
export async function convertFile(
  conversion: Conversion,
  onConverted: (total: number) => (checked: number) => void,
): Promise<ImportedProject> {
  const slice = new TimeSlice()
  const onChecked = (total: number) => {
    const report = onConverted(total)
    return (checked: number) => {
      report(checked)
      return slice.next()
    }
  }
  try {
    return await convert(conversion, targetRules, onChecked)
  } catch (error) {
    throw fileProblem(error)
  }
}

/** The names of the environments in a file; empty when its format has none. Raises `invalid`. */
export const readEnvironments = (source: ImportSource, document: unknown): readonly string[] =>
  inFile(() => environmentsIn(source, document))

/** The text of a file, or the JSON in it. Raises `invalid`. */
export const readContent = (content: unknown): unknown =>
  typeof content === 'string' ? inFile(() => parseJson(content)) : content

function inFile<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw fileProblem(error)
  }
}

/** `invalid` with the place in the file; other errors stay as they are. */
export function fileProblem(error: unknown): unknown {
  if (!(error instanceof ImportFileError)) return error
  const { message, path } = error
  if (error instanceof EnvironmentRequiredError) {
    const extra = { environments: error.environments }
    return new Problem('invalid', message, { field: 'mapping', code: 'environment_required', extra })
  }
  const place = path === '' ? '' : ` (${path})`
  return new Problem('invalid', `${message}${place}`, { field: 'content', code: 'invalid_file', extra: { path } })
}
