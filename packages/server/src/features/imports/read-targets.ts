import { environmentNameCharactersMax, importTargetsMax } from '@halyard/contract'
import type { ImportSource } from '@halyard/migrate/model'
import { forbidden, invalid, Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, adminLevel, hasAnyScope, type Organization, requireLevel } from '../../tenancy.ts'
import type { EnvironmentSet } from '../change-control/environments/environment.ts'
import { getSet } from '../change-control/environments/save-set.ts'
import { findProject } from '../flags/copies/copy-flag.ts'
import { readContent, readEnvironments } from './convert-file.ts'
import type { NewTarget } from './plan-import.ts'

/** Which environments of which files go where, as it is sent. */
interface Wanted {
  readonly source: ImportSource
  readonly content?: unknown
  readonly mapping?: readonly MappingEntry[] | undefined
  readonly environment_set?: number | undefined
  readonly new_environment_set?: string | undefined
}

interface MappingEntry {
  readonly environment?: string | null | undefined
  readonly project?: number | undefined
  readonly name?: string | undefined
  readonly content?: unknown
}

/** Raises `invalid` with the entry of the mapping at fault, and `missing` for a project or set that the caller does not have. */
export async function readTargets(
  database: Database,
  actor: Actor,
  organization: Organization,
  wanted: Wanted,
): Promise<readonly NewTarget[]> {
  const { source, mapping, environment_set: setId, new_environment_set: newSet } = wanted
  if (setId !== undefined && newSet !== undefined) {
    throw invalid('new_environment_set', 'invalid_input', 'Send either environment_set or new_environment_set.')
  }
  if (!mapping && setId === undefined && newSet === undefined) {
    throw invalid('mapping', 'required', 'Send mapping, environment_set or new_environment_set.')
  }
  if (newSet !== undefined) requireSetCreation(actor, organization)
  const shared = wanted.content === undefined ? undefined : readContent(wanted.content)
  const names = mapping || shared === undefined ? [] : readEnvironments(source, shared)
  return database.read(async tx => {
    const set = setId === undefined ? undefined : await getSet(tx, organization, setId)
    const entries: readonly MappingEntry[] =
      mapping ?? (set ? matching(set, names) : names.map(name => ({ environment: name, name })))
    if (entries.length === 0) throw invalid('mapping', 'required', 'The file names no environments; send mapping.')
    if (entries.length > importTargetsMax) {
      throw invalid('mapping', 'max_length', `At most ${importTargetsMax} environments are imported at once.`)
    }
    const targets: NewTarget[] = []
    for (const [index, entry] of entries.entries()) {
      const field = `mapping__${index}`
      const document = entry.content === undefined ? shared : readContent(entry.content)
      if (document === undefined) throw invalid('content', 'required', 'Send the file as content.')
      const target = { document, environment: entry.environment ?? null }
      const place =
        newSet === undefined
          ? await existingPlace(tx, actor, organization, entry, set, field)
          : { project: null, name: nameInNewSet(entry, field) }
      const twin = targets.some(other =>
        place.project ? other.project?.id === place.project.id : isSame(other.name, place.name),
      )
      if (twin) {
        const what = place.project ? `project ${place.project.id}` : `environment "${place.name}"`
        throw invalid(field, 'unique', `The ${what} is named twice.`)
      }
      targets.push({ ...target, ...place })
    }
    return targets
  })
}

/** Checked when an import is planned and again when it is applied, perhaps with another key. */
export function requireSetCreation(actor: Actor, organization: Organization): void {
  requireLevel(actor, organization.id, adminLevel, 'create environment sets')
  if (!hasAnyScope(actor.key, ['project:write'])) {
    throw forbidden('To create an environment set, this key also needs the scope project:write.')
  }
}

async function existingPlace(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { project: wantedProject, environment, name: wanted }: MappingEntry,
  set: EnvironmentSet | undefined,
  field: string,
): Promise<Pick<NewTarget, 'project' | 'name'>> {
  const name = wanted ?? (set && wantedProject === undefined ? (environment ?? null) : null)
  const inSet = set?.environments.find(other =>
    wantedProject === undefined ? isSame(other.name, name) : other.projectId === wantedProject,
  )
  const projectId = wantedProject ?? inSet?.projectId
  if (projectId === undefined) {
    if (!set) throw invalid(`${field}__project`, 'required', 'Send the id of a project.')
    throw invalid(`${field}__name`, 'does_not_exist', `There is no environment "${name ?? ''}" in the set.`)
  }
  const project = await findProject(tx, actor, organization, projectId)
  if (!project) {
    throw new Problem('missing', `There is no project ${projectId} in this organization.`, {
      field: `${field}__project`,
    })
  }
  if (set && !inSet) {
    throw invalid(`${field}__project`, 'invalid_input', `The project ${projectId} is not in the environment set.`)
  }
  return { project, name: inSet?.name ?? null }
}

function nameInNewSet({ project, environment, name = environment ?? undefined }: MappingEntry, field: string): string {
  if (project !== undefined) {
    throw invalid(`${field}__project`, 'invalid_input', 'A new set gets new projects; send no project.')
  }
  if (!name?.trim()) throw invalid(`${field}__name`, 'required', 'An environment of a new set needs a name.')
  if (name.length > environmentNameCharactersMax) {
    throw invalid(`${field}__name`, 'max_length', `Use at most ${environmentNameCharactersMax} characters.`)
  }
  return name
}

const isSame = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase()

/** The environments of the file that the set has, too. Raises `invalid` when there are none. */
function matching({ environments }: EnvironmentSet, names: readonly string[]): MappingEntry[] {
  const matches = environments.flatMap(({ name, projectId }) => {
    const environment = names.find(candidate => isSame(candidate, name))
    return environment === undefined ? [] : [{ environment, name, project: projectId }]
  })
  if (matches.length > 0) return matches
  const listed = names.length === 0 ? 'none' : names.join(', ')
  throw invalid('environment_set', 'invalid_input', `No environment of the set is in the file, which has ${listed}.`)
}
