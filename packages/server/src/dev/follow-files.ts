import { stat } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { cohortEntry, flagEntry, projectEntry } from '../api/edge/project-documents.ts'
import { projectState } from '../api/edge/project-state.ts'
import type { Replica } from '../edge/replica.ts'
import { overriddenFlag } from '../evaluation/projects/flag-override.ts'
import { type DevProject, readDevFile } from './dev-file.ts'
import { type JsonFile, JsonFileError, readJsonFile } from './json-file.ts'
import { noOverrides, type OverrideFile, readOverrideFile } from './override-file.ts'

export interface DevFiles {
  /** What `halyard dev pull` wrote. */
  readonly project: string
  /** Need not exist. */
  readonly overrides: string
}

export interface FollowedFiles {
  readonly project: DevProject
  /** The keys of the flags that the file overrides. */
  readonly overridden: readonly string[]
  close(): Promise<void>
}

interface Options {
  readonly files: DevFiles
  readonly replica: Replica
  /** Sentences about what is wrong in the files; called when they change. */
  readonly onProblems: (problems: readonly string[]) => void
  /** Called when changed files are being served. */
  readonly onReload: (project: DevProject, overridden: readonly string[]) => void
}

const pollMilliseconds = 100

/** The identity of the local project. Its token is what browsers get for the event stream. */
export const localProject = {
  uuid: '00000000-0000-4000-8000-000000000000',
  organizationId: '00000000-0000-4000-8000-000000000001',
  apiToken: 'phc_local_development',
  timezone: 'UTC',
} as const

/**
 * Keeps the replica equal to the files. Polls, because file events are missing on network and container mounts. A file that becomes
 * invalid leaves the last valid state in use. Rejects when there is no valid project to begin with.
 */
export async function followFiles({ files, replica, onProblems, onReload }: Options): Promise<FollowedFiles> {
  const closing = new AbortController()
  let project: DevProject
  let overridesFile: JsonFile | undefined
  let overrides: OverrideFile = noOverrides
  let reported = ''

  async function loadProject(): Promise<void> {
    const file = await readJsonFile(files.project)
    if (!file) throw new JsonFileError(`There is no file ${files.project}. Create it with "halyard dev pull".`)
    project = readDevFile(file)
  }

  /** The overrides are read again when the project has changed: they name its flags. */
  async function load(isFirst: boolean): Promise<void> {
    const problems: string[] = []
    const note = (error: unknown) => {
      if (!(error instanceof JsonFileError)) throw error
      problems.push(error.message)
    }
    await (isFirst ? loadProject() : loadProject().catch(note))
    try {
      const file = await readJsonFile(files.overrides)
      overrides = file ? readOverrideFile(file, project.flags) : noOverrides
      overridesFile = file
    } catch (error) {
      note(error)
      overrides = overridesFile ? readOverrideFile(overridesFile, project.flags) : noOverrides
    }
    problems.push(...overrides.problems)
    const before = replica.stateOf(localProject.uuid)?.digest
    await replica.put(stateOf(project, overrides))
    const text = problems.join('\n')
    if (text !== reported) onProblems(problems)
    reported = text
    if (!isFirst && replica.stateOf(localProject.uuid)?.digest !== before) onReload(project, overridden())
  }

  const overridden = () => [...overrides.overrides.keys()]
  const paths = [files.project, files.overrides]
  // Taken before the files are read: a change in between is seen as one.
  let seen = await signatureOf(paths)
  await load(true)

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      await wait(pollMilliseconds, undefined, { signal: closing.signal }).catch(() => {})
      const signature = await signatureOf(paths)
      if (closing.signal.aborted || signature === seen) continue
      seen = signature
      await load(false)
    }
  }

  const polling = poll()
  return {
    get project() {
      return project
    },
    get overridden() {
      return overridden()
    },
    async close() {
      closing.abort()
      await polling
    },
  }
}

function stateOf({ id, name, groupTypes, propertyMatchingVersion, flags, cohorts }: DevProject, file: OverrideFile) {
  const project = { id, name, groupTypes, propertyMatchingVersion, ...localProject }
  const served = flags.map(flag => {
    const override = file.overrides.get(flag.key)
    return override === undefined ? flag : overriddenFlag(flag, override)
  })
  const documents = [projectEntry(project, false), ...served.map(flagEntry), ...cohorts.map(cohortEntry)]
  return projectState(localProject.uuid, new Map(documents))
}

/** Changes when one of the files does, also when an editor replaces it. */
async function signatureOf(paths: readonly string[]): Promise<string> {
  const signatures = paths.map(async path => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined)
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : 'none'
  })
  return (await Promise.all(signatures)).join('\n')
}
